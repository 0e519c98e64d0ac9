// Owns: chance that repeats itself: the same seed gives the same choices, on every machine.

/** Mulberry32, by Tommy Ettinger: 32 bits of state are plenty for choosing words. */
export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit) => Math.floor(next() * limit);
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    pick: (list) => list[below(list.length)],
    chance: (share) => next() < share,
    digits: (count) => Array.from({ length: count }, () => below(10)).join(''),
  };
}
