/**
 * The guest's calls to the host, and the cells that wait for them: the protocol's state, which lives in the heap.
 *
 * C1  A call is queued and numbered 1, 2, 3 … in the heap; it leaves only when the guest is at rest.
 * C2  `settle` of a number that waits for nothing changes nothing.
 * C3  Each cell ends once: done, failed, or failed because nothing that it awaits can still happen.
 * C4  An error from the host is an `Error` with name, code and message, and the stack of the line that made the call.
 *
 * The text is evaluated in the engine.
 */
export const CALLS = String.raw`(P, show, print, budget) => {
  const OPEN = 1000, ARGS = 4 << 20;
  const pending = new P.Map(), cells = new P.Map();
  let last = 0, queue = '', ended = '';

  const call = (name, args, waiting) => {
    if (args.length > ARGS) throw new P.RangeError(name + ': the arguments are longer than ' + ARGS + ' characters');
    if (P.mapSize(pending) >= OPEN) throw new P.RangeError('more than ' + OPEN + ' calls wait for an answer');
    const id = ++last;
    queue += (queue === '' ? '' : ',')
      + '{"guestCall":' + id + ',"name":' + P.quote(name) + ',"args":' + P.quote(args) + '}';
    P.mapSet(pending, id, waiting);
  };
  /** Calls the host; the promise gets what 'read' makes of the answer. */
  const ask = (name, args, read) => {
    const site = new P.Error();
    return new P.Promise((resolve, reject) => {
      call(name, args, {
        __proto__: null,
        done: (json) => resolve(read(P.parse(json))),
        failed: (json) => reject(fill(site, json)),
        refused: reject,
      });
    });
  };
  const fill = (error, json) => {
    const told = P.parse(json);
    const text = (key, otherwise) => {
      const value = typeof told === 'object' && told !== null ? show.dataOf(told, key) : undefined;
      return typeof value === 'string' ? value : otherwise;
    };
    const define = (key, value, enumerable) =>
      P.defineProperty(error, key, { __proto__: null, value, enumerable, writable: true, configurable: true });
    define('name', text('name', 'HostError'), false);
    define('message', text('message', 'the call failed'), false);
    define('code', text('code', 'failed'), true);
    return error;
  };
  const settle = (id, isOk, json) => {
    const waiting = P.mapGet(pending, id);
    if (waiting === undefined) return;
    P.mapDelete(pending, id);
    try {
      if (isOk) waiting.done(json);
      else waiting.failed(json);
    } catch (error) {
      waiting.refused(error);
    }
  };

  const end = (cell, isDone, text) => {
    if (!P.mapDelete(cells, cell)) return;
    const result = (isDone ? '{"status":"done","value":' : '{"status":"failed","error":') + P.quote(text) + '}';
    ended += (ended === '' ? '' : ',') + '{"cell":' + P.quote(cell) + ',"end":' + result + '}';
  };
  const valueText = (value) =>
    show.inspect(value, typeof value === 'string' || budget < 4000 ? budget : 4000);
  const track = (cell, promise) => {
    P.mapSet(cells, cell, true);
    // Without its own member, 'then' would ask Promise.prototype.constructor, which a cell may have replaced.
    P.defineProperty(promise, 'constructor', { __proto__: null, value: undefined });
    const done = (result) => end(cell, true, valueText(show.dataOf(result, 'value')));
    P.then(promise, done, (error) => end(cell, false, show.failure(error)));
  };
  const fail = (cell, error) => {
    P.mapSet(cells, cell, true);
    end(cell, false, show.failure(error));
  };
  /** With no call open nothing can come in any more, so what still waits waits for ever. */
  const endStuck = () => {
    if (P.mapSize(pending) > 0) return;
    const entries = P.mapEntries(cells);
    for (let left = P.mapSize(cells); left > 0; left--) {
      end(P.mapNext(entries).value[0], false, 'Unsettled await: nothing that this cell awaits can still happen.');
    }
  };
  const complain = (label, error) => print(label + ': ' + show.failure(error) + '\n');

  const take = () => {
    endStuck();
    const taken = '"calls":[' + queue + '],"ended":[' + ended + ']';
    queue = ''; ended = '';
    return taken;
  };
  return { __proto__: null, call, ask, settle, track, fail, complain, take };
}`;
