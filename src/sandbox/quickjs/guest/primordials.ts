/**
 * The built-in functions that the guest's side of the protocol uses, taken before any cell has run.
 *
 * P1  Code of ours in the guest calls nothing that it looks up at run time: no method of a value, no `for … of`, no
 *     spread, no destructuring of arrays, no regular expression, no `await`. Each of those asks a prototype that a
 *     cell may have changed.
 * P2  What it writes to is a null-prototype object, a captured Map or a string: an index written to an array
 *     would reach a setter on `Array.prototype`.
 * P3  A descriptor's member is read only after `hasOwn`, since `Object.prototype.value` may be a getter.
 *
 * The text is evaluated in the engine; it is not run by Node.
 */
export const PRIMORDIALS = `() => {
  const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const uncurry = (method) => apply(Function.prototype.bind, Function.prototype.call, [method]);
  const getter = (prototype, name) => uncurry(getOwnPropertyDescriptor(prototype, name).get);
  const typedArray = getPrototypeOf(Uint8Array);
  return {
    __proto__: null,
    apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys,
    Error, TypeError, RangeError, Map, Set, WeakMap, Promise, Proxy,
    hasOwn: Object.hasOwn,
    isArray: Array.isArray,
    random: Math.random,
    floor: Math.floor,
    quote: JSON.stringify,
    parse: JSON.parse,
    then: uncurry(Promise.prototype.then),
    mapGet: uncurry(Map.prototype.get),
    mapSet: uncurry(Map.prototype.set),
    mapHas: uncurry(Map.prototype.has),
    mapDelete: uncurry(Map.prototype.delete),
    mapSize: getter(Map.prototype, 'size'),
    mapEntries: uncurry(Map.prototype.entries),
    mapNext: uncurry(getPrototypeOf(new Map().entries()).next),
    weakGet: uncurry(WeakMap.prototype.get),
    weakSet: uncurry(WeakMap.prototype.set),
    setAdd: uncurry(Set.prototype.add),
    setHas: uncurry(Set.prototype.has),
    setSize: getter(Set.prototype, 'size'),
    setValues: uncurry(Set.prototype.values),
    setNext: uncurry(getPrototypeOf(new Set().values()).next),
    sliceText: uncurry(String.prototype.slice),
    findText: uncurry(String.prototype.indexOf),
    codeAt: uncurry(String.prototype.charCodeAt),
    textOfBigInt: uncurry(BigInt.prototype.toString),
    textOfSymbol: uncurry(Symbol.prototype.toString),
    numberOf: uncurry(Number.prototype.valueOf),
    stringOf: uncurry(String.prototype.valueOf),
    booleanOf: uncurry(Boolean.prototype.valueOf),
    timeOf: uncurry(Date.prototype.getTime),
    isoDate: uncurry(Date.prototype.toISOString),
    sourceOf: getter(RegExp.prototype, 'source'),
    isGlobal: getter(RegExp.prototype, 'global'),
    isIgnoreCase: getter(RegExp.prototype, 'ignoreCase'),
    isMultiline: getter(RegExp.prototype, 'multiline'),
    isDotAll: getter(RegExp.prototype, 'dotAll'),
    isUnicode: getter(RegExp.prototype, 'unicode'),
    isSticky: getter(RegExp.prototype, 'sticky'),
    stackOf: getter(Error.prototype, 'stack'),
    typedLength: getter(typedArray.prototype, 'length'),
    bufferLength: getter(ArrayBuffer.prototype, 'byteLength'),
  };
}`;
