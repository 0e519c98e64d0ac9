/** The same object with some of its members in place of its own; the others are called as they ever were. */

export function overlaid<T extends object>(real: T, changed: Partial<T>): T {
  return new Proxy(real, {
    get(target, key) {
      if (key in changed) return Reflect.get(changed, key);
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
