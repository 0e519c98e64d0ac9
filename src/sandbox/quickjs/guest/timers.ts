/**
 * `setTimeout` and `setInterval`: a host call `timer` each, whose answer runs the callback.
 *
 * M1  To clear a timer drops its callback in the guest; the host's timer still comes, and finds nothing.
 * M2  What a callback throws is printed and ends nothing else.
 *
 * The text is evaluated in the engine.
 */
export const TIMERS = `(P, calls) => {
  const timers = new P.Map();
  let last = 0;
  const delay = (ms) => {
    const wanted = typeof ms === 'number' ? ms : 0;
    return wanted >= 1 && wanted <= 2147483647 ? P.floor(wanted) : wanted > 2147483647 ? 2147483647 : 0;
  };
  const arm = (id, ms) => {
    const fire = () => {
      const timer = P.mapGet(timers, id);
      if (timer === undefined) return;
      if (!timer.repeats) P.mapDelete(timers, id);
      try {
        P.apply(timer.callback, undefined, timer.args);
      } catch (error) {
        calls.complain('Uncaught in a timer', error);
      }
      if (timer.repeats && P.mapHas(timers, id)) arm(id, ms);
    };
    const refused = (error) => calls.complain('Uncaught in a timer', error);
    const failed = () => { P.mapDelete(timers, id); };
    calls.call('timer', '{"ms":' + ms + '}', { __proto__: null, done: fire, failed, refused });
  };
  const start = (callback, ms, args, repeats) => {
    if (typeof callback !== 'function') throw new P.TypeError('a timer needs a function to call');
    const id = ++last;
    arm(id, delay(ms));
    P.mapSet(timers, id, { __proto__: null, callback, args, repeats });
    return id;
  };
  const clear = (id) => { P.mapDelete(timers, id); };
  return {
    setTimeout: (callback, ms, ...args) => start(callback, ms, args, false),
    setInterval: (callback, ms, ...args) => start(callback, ms, args, true),
    clearTimeout: clear,
    clearInterval: clear,
  };
}`;
