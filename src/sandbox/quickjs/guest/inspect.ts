/**
 * How values and errors are written for people and models: like a REPL, on one line where it fits, and bounded.
 *
 * I1  No code of a cell runs: getters, proxies, `toString`, `toJSON` and `Symbol.toStringTag` are never asked. What kind
 *     of object something is, the engine says (`classOf`), since the object itself may lie.
 * I2  The work is bounded by a budget of characters, a depth and a count of elements, whatever the value.
 *
 * The text is evaluated in the engine, with the primordials and the engine's `classOf`.
 */
export const INSPECT = String.raw`(P, classOf) => {
  const LINE = 100, DEPTH = 5, ELEMENTS = 100, MEMBERS = 50, TEXT = 400;
  const { apply, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, ownKeys, quote } = P;

  const PROXY = classOf(new Proxy({}, {}));
  const ERROR = classOf(new Error());
  const EXCEPTION = classOf(new DOMException());
  const CODE = classOf(class {});
  const kinds = new Map();
  const kind = (name, example) => kinds.set(classOf(example), name);
  kind('Array', []); kind('Map', new Map()); kind('Set', new Set()); kind('Date', new Date(0)); kind('RegExp', /a/);
  kind('Error', new Error()); kind('Error', new DOMException()); kind('Proxy', new Proxy({}, {}));
  kind('Promise', Promise.resolve()); kind('WeakMap', new WeakMap()); kind('WeakSet', new WeakSet());
  kind('WeakRef', new WeakRef({})); kind('DataView', new DataView(new ArrayBuffer(1)));
  kind('ArrayBuffer', new ArrayBuffer(1)); kind('SharedArrayBuffer', new SharedArrayBuffer(1));
  kind('Number', Object(1)); kind('String', Object('')); kind('Boolean', Object(true));
  kind('BigInt', Object(1n)); kind('Symbol', Object(Symbol.iterator));
  kind('Arguments', (function () { return arguments; })());
  kind('Generator', (function* () {})()); kind('AsyncGenerator', (async function* () {})());
  for (const Typed of [Uint8ClampedArray, Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array,
    BigInt64Array, BigUint64Array, Float16Array, Float32Array, Float64Array]) kind('TypedArray', new Typed(1));

  /** The kind of an object as the engine knows it: a built-in's name, 'Function' or 'Object'. */
  const kindOf = (object) =>
    P.mapGet(kinds, classOf(object)) ?? (typeof object === 'function' ? 'Function' : 'Object');
  const isProxy = (object) => classOf(object) === PROXY;

  /** The value of an own data member; undefined for accessors and for what a proxy would have to be asked. */
  const dataOf = (object, key) => {
    if (isProxy(object)) return undefined;
    const descriptor = getOwnPropertyDescriptor(object, key);
    return descriptor !== undefined && hasOwn(descriptor, 'value') ? descriptor.value : undefined;
  };
  const inherited = (object, key, isWanted) => {
    let at = object;
    for (let steps = 0; at !== null && steps < 100 && !isProxy(at); steps++) {
      const value = dataOf(at, key);
      if (isWanted(value)) return value;
      at = getPrototypeOf(at);
    }
    return undefined;
  };

  /** A name as far as it is fit to print. */
  const plain = (name, max) => {
    let text = '';
    for (let i = 0; i < name.length && i < max; i++) {
      const unit = P.codeAt(name, i);
      text += unit < 32 || unit === 127 || (unit >= 0xd800 && unit <= 0xdfff) ? '?' : name[i];
    }
    return text;
  };
  const nameOf = (fn) => {
    const name = dataOf(fn, 'name');
    return typeof name === 'string' ? plain(name, 60) : '';
  };
  /** What made an object: the constructor's name, or what the engine calls it where there is none; '' if neither. */
  const constructorOf = (object) => {
    const kind = kindOf(object);
    if (kind === 'Proxy') return kind;
    const found = inherited(object, 'constructor', (value) => typeof value === 'function' && nameOf(value) !== '');
    const name = found === undefined ? '' : nameOf(found);
    return kind !== 'Object' && (name === '' || name === 'Object') ? kind : name;
  };
  const isClass = (fn) => {
    if (classOf(fn) !== CODE) return false;
    const descriptor = getOwnPropertyDescriptor(fn, 'prototype');
    return descriptor !== undefined && descriptor.writable === false;
  };

  const cut = (text, max) => {
    if (text.length <= max) return text;
    const unit = P.codeAt(text, max - 1), isHalf = unit >= 0xd800 && unit <= 0xdbff;
    return P.sliceText(text, 0, isHalf ? max - 1 : max);
  };
  const quoted = (text, max) =>
    text.length <= max ? quote(text) : quote(cut(text, max)) + '… ' + (text.length - max) + ' more characters';
  const isWord = (key) => {
    for (let i = 0; i < key.length; i++) {
      const unit = P.codeAt(key, i);
      const isLetter = (unit | 32) >= 97 && (unit | 32) <= 122;
      if (!isLetter && unit !== 95 && unit !== 36 && (i === 0 || unit < 48 || unit > 57)) return false;
    }
    return key !== '';
  };
  const keyText = (key) =>
    typeof key === 'symbol' ? '[' + P.textOfSymbol(key) + ']' : isWord(key) ? cut(key, 100) : quoted(key, 100);

  const primitive = (value) => {
    switch (typeof value) {
      case 'bigint': return cut(P.textOfBigInt(value), TEXT) + 'n';
      case 'symbol': return P.textOfSymbol(value);
      case 'number': return value === 0 && 1 / value < 0 ? '-0' : '' + value;
      default: return '' + value;
    }
  };

  const dateText = (date) => {
    const time = P.timeOf(date);
    return time !== time ? 'Invalid Date' : P.isoDate(date);
  };
  const regexpText = (value) => '/' + P.sourceOf(value) + '/' + (P.isGlobal(value) ? 'g' : '')
    + (P.isIgnoreCase(value) ? 'i' : '') + (P.isMultiline(value) ? 'm' : '') + (P.isDotAll(value) ? 's' : '')
    + (P.isUnicode(value) ? 'u' : '') + (P.isSticky(value) ? 'y' : '');
  const functionText = (fn) => {
    const name = nameOf(fn);
    if (isClass(fn)) return '[class ' + (name === '' ? '(anonymous)' : name) + ']';
    return '[Function' + (name === '' ? '' : ': ' + name) + ']';
  };

  /** Joins parts on one line where they fit, else one to a line, short ones several to a line. */
  const layout = (open, parts, count, close, indent) => {
    if (count === 0) return open + close;
    let width = open.length + close.length, isOneLine = true;
    for (let i = 0; i < count; i++) {
      width += parts[i].length + 2;
      if (P.findText(parts[i], '\n') >= 0) isOneLine = false;
    }
    const gap = open[open.length - 1] === '(' ? '' : ' ';
    if (isOneLine && width <= LINE) {
      let text = open + gap + parts[0];
      for (let i = 1; i < count; i++) text += ', ' + parts[i];
      return text + gap + close;
    }
    let text = open, column = LINE;
    for (let i = 0; i < count; i++) {
      const part = parts[i], isShort = part.length <= 16;
      if (!isShort || column + part.length + 2 > LINE) {
        text += '\n' + indent + '  ';
        column = indent.length + 2;
      } else text += ' ';
      text += part + (i < count - 1 ? ',' : '');
      column = isShort ? column + part.length + 2 : LINE;
    }
    return text + '\n' + indent + close;
  };

  const list = () => ({ __proto__: null, count: 0 });
  const push = (parts, text) => { parts[parts.count++] = text; };
  const rest = (parts, total, shown) => {
    if (total > shown) push(parts, '… ' + (total - shown) + ' more');
  };

  const write = (value, room, depth, indent, parents) => {
    if (typeof value === 'string') {
      const text = quoted(value, depth === 0 ? room.left : TEXT);
      room.left -= text.length;
      return text;
    }
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) {
      const text = primitive(value);
      room.left -= text.length;
      return text;
    }
    if (room.left <= 0) return '…';
    for (let up = parents; up !== null; up = up.next) if (up.value === value) return '[Circular]';
    const text = writeObject(value, room, depth, indent, { __proto__: null, value, next: parents });
    if (P.findText(text, '\n') < 0) room.left -= 8;
    return text;
  };

  const writeObject = (value, room, depth, indent, parents) => {
    const kind = kindOf(value);
    const inner = (item) => write(item, room, depth + 1, indent + '  ', parents);
    switch (kind) {
      case 'Proxy': return '[Proxy]';
      case 'Error': return depth === 0 ? failure(value) : '[' + title(value) + ']';
      case 'Date': return dateText(value);
      case 'RegExp': return cut(regexpText(value), TEXT);
      case 'Number': return '[Number: ' + P.numberOf(value) + ']';
      case 'String': return '[String: ' + quoted(P.stringOf(value), TEXT) + ']';
      case 'Boolean': return '[Boolean: ' + P.booleanOf(value) + ']';
    }
    const name = constructorOf(value);
    if (depth >= DEPTH) return kind === 'Array' ? '[Array]' : '[' + (name === '' ? 'Object' : name) + ']';
    const parts = list();
    switch (kind) {
      case 'Array':
      case 'Arguments': {
        const length = dataOf(value, 'length');
        const shown = typeof length === 'number' && length < ELEMENTS ? length : ELEMENTS;
        let i = 0;
        for (; i < shown && room.left > 0; i++) {
          const at = getOwnPropertyDescriptor(value, '' + i);
          push(parts, at === undefined ? '<empty>' : hasOwn(at, 'value') ? inner(at.value) : '[Getter]');
        }
        rest(parts, length, i);
        const open = name === 'Array' ? '[' : name + '(' + length + ') [';
        return layout(open, parts, parts.count, ']', indent);
      }
      case 'TypedArray': {
        const length = P.typedLength(value);
        let i = 0;
        for (; i < length && i < ELEMENTS && room.left > 0; i++) push(parts, inner(value[i]));
        rest(parts, length, i);
        return layout(name + '(' + length + ') [', parts, parts.count, ']', indent);
      }
      case 'Map': {
        const size = P.mapSize(value), entries = P.mapEntries(value);
        let i = 0;
        for (; i < size && i < MEMBERS && room.left > 0; i++) {
          const step = P.mapNext(entries);
          if (step.done) break;
          push(parts, inner(step.value[0]) + ' => ' + inner(step.value[1]));
        }
        rest(parts, size, i);
        return layout(name + '(' + size + ') {', parts, parts.count, '}', indent);
      }
      case 'Set': {
        const size = P.setSize(value), values = P.setValues(value);
        let i = 0;
        for (; i < size && i < MEMBERS && room.left > 0; i++) {
          const step = P.setNext(values);
          if (step.done) break;
          push(parts, inner(step.value));
        }
        rest(parts, size, i);
        return layout(name + '(' + size + ') {', parts, parts.count, '}', indent);
      }
      case 'ArrayBuffer': return name + ' { byteLength: ' + P.bufferLength(value) + ' }';
      case 'Function': if (depth > 0) return functionText(value);
    }
    const shown = members(value, parts, room, inner);
    if (kind === 'Function') {
      const text = functionText(value);
      return shown === 0 ? text : layout(text + ' {', parts, parts.count, '}', indent);
    }
    const label = name === '' ? '[no constructor] ' : name + ' ';
    const isPlain = name === 'Object' && kind === 'Object';
    return layout((isPlain ? '' : label) + '{', parts, parts.count, '}', indent);
  };

  const members = (object, parts, room, inner) => {
    const keys = ownKeys(object);
    let shown = 0, hidden = 0;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i], descriptor = getOwnPropertyDescriptor(object, key);
      if (descriptor === undefined || !descriptor.enumerable) continue;
      if (shown >= MEMBERS || room.left <= 0) { hidden++; continue; }
      shown++;
      const label = keyText(key) + ': ';
      room.left -= label.length;
      push(parts, label + (hasOwn(descriptor, 'value') ? inner(descriptor.value) : '[Getter]'));
    }
    rest(parts, hidden, 0);
    return shown;
  };

  const inspect = (value, budget) => write(value, { __proto__: null, left: budget }, 0, '', null);

  /** Name, code and message of an error, as Node writes them. */
  const title = (error) => {
    const isText = (value) => typeof value === 'string';
    const isException = classOf(error) === EXCEPTION;
    let name = inherited(error, 'name', isText) ?? (isException ? 'DOMException' : 'Error');
    if (name === 'Error') name = constructorOf(error) || name;
    const message = inherited(error, 'message', isText) ?? '';
    const code = dataOf(error, 'code');
    const mark = typeof code === 'string' && code !== '' ? ' [' + plain(code, 60) + ']' : '';
    return plain(name, 100) + mark + (message === '' ? '' : ': ' + cut(message, 2000));
  };

  /** The lines of the stack that lie in cells; ours and the engine's own say nothing to the reader. */
  const frames = (error, max) => {
    if (classOf(error) !== ERROR) return '';
    let stack;
    try { stack = P.stackOf(error); } catch { return ''; }
    if (typeof stack !== 'string') return '';
    let text = '', count = 0, before = '';
    for (let from = 0; from < stack.length && count < max; ) {
      const found = P.findText(stack, '\n', from), end = found < 0 ? stack.length : found;
      const line = cut(P.sliceText(stack, from, end), 200);
      from = end + 1;
      const isOurs = P.findText(line, '<outlast>') >= 0 || P.findText(line, '(native)') >= 0;
      if (line === before || isOurs || P.findText(line, '    at ') !== 0) continue;
      before = line;
      text += '\n' + line;
      count++;
    }
    return text;
  };

  /** The whole text of something thrown. */
  const failure = (thrown, depth = 0) => {
    const isObject = typeof thrown === 'object' && thrown !== null;
    if (!isObject || kindOf(thrown) !== 'Error') return 'Thrown: ' + inspect(thrown, 2000);
    let text = title(thrown) + frames(thrown, 5);
    const several = dataOf(thrown, 'errors');
    if (depth < 3 && !isProxy(several) && P.isArray(several)) {
      const length = dataOf(several, 'length');
      for (let i = 0; i < length && i < 3; i++) text += '\n[' + i + '] ' + failure(dataOf(several, '' + i), depth + 1);
    }
    const cause = dataOf(thrown, 'cause');
    return cause === undefined || depth >= 3 ? text : text + '\nCaused by: ' + failure(cause, depth + 1);
  };

  return { __proto__: null, inspect, failure, kindOf, isProxy, isClass, dataOf, constructorOf, nameOf, plain };
}`;
