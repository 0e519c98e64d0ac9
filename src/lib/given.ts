/** What may be there or not, made of what may be `undefined`: only what is there is set, sent or passed on. */

export type Given<Options> = { [Name in keyof Options]?: Exclude<Options[Name], undefined> };

/** `given({ title: undefined, key: 'k' })` is `{ key: 'k' }`. */
export function given<Options extends object>(options: Options): Given<Options> {
  const there = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as Given<Options>;
}
