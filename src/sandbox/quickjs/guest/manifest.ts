/**
 * The live objects: what the cells have put on `globalThis`, by name, type and size.
 *
 * L1  Nothing of a cell runs for it: accessors are named as such and not read, proxies are not asked.
 * L2  It costs a step little: the members of a large object, which the engine can only list, are counted once in a while.
 *
 * The text is evaluated in the engine, after everything of ours stands on `globalThis`. Sorting and the final cap are
 * the host's.
 */
export const MANIFEST = `(P, show) => {
  const SCAN = 5000, NAME = 200, LARGE = 1000, STEPS = 32;
  const { getOwnPropertyDescriptor, hasOwn, ownKeys, quote } = P;
  const world = globalThis, ours = new P.Set();
  for (const key of ownKeys(world)) P.setAdd(ours, key);

  const typeOf = (value) => {
    if (typeof value === 'function') return show.isProxy(value) ? 'Proxy' : show.isClass(value) ? 'class' : 'function';
    if (typeof value !== 'object') return typeof value;
    if (value === null) return 'null';
    const name = show.constructorOf(value);
    return name === '' ? 'Object' : name;
  };
  const large = new P.WeakMap();
  const membersOf = (object) => {
    const known = P.weakGet(large, object);
    if (known !== undefined && known.steps-- > 0) return known.size;
    const size = ownKeys(object).length;
    if (size > LARGE) P.weakSet(large, object, { __proto__: null, size, steps: STEPS });
    return size;
  };
  const sizeOf = (value) => {
    if (typeof value === 'string') return value.length;
    if (typeof value !== 'object' || value === null) return null;
    switch (show.kindOf(value)) {
      case 'Array': return show.dataOf(value, 'length');
      case 'Map': return P.mapSize(value);
      case 'Set': return P.setSize(value);
      case 'TypedArray': return P.typedLength(value);
      case 'ArrayBuffer': return P.bufferLength(value);
      case 'Object': return membersOf(value);
      default: return null;
    }
  };
  const entry = (name, descriptor) => {
    const isData = hasOwn(descriptor, 'value');
    const type = isData ? typeOf(descriptor.value) : 'accessor';
    return '[' + quote(name) + ',' + quote(type) + ',' + (isData ? sizeOf(descriptor.value) : null) + ']';
  };

  return () => {
    const keys = ownKeys(world);
    let live = '', count = 0;
    for (let i = 0; i < keys.length && count < SCAN; i++) {
      const name = keys[i];
      if (typeof name !== 'string' || name.length > NAME || P.setHas(ours, name)) continue;
      live += (count++ === 0 ? '' : ',') + entry(name, getOwnPropertyDescriptor(world, name));
    }
    return '"live":[' + live + ']';
  };
}`;
