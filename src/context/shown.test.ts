import { expect, it } from 'vitest';
import { SHOWN_BYTES, SHOWN_FILES } from '../core/file.ts';
import type { Item } from '../core/state.ts';
import { EMPTY, filesOf, firstShown, widened } from './shown.ts';

const MB = 1024 * 1024;
const with_ = (...sizes: number[]): Item => {
  const images = sizes.map((bytes) => ({ mediaType: 'image/png', bytes }));
  return { kind: 'message', turn: 1, message: { images } } as unknown as Item;
};
const note: Item = { kind: 'note', seq: 1, text: 'x', at: 0 };
const shownFrom = (items: readonly Item[], isWithheld: (item: Item) => boolean = () => false) => {
  const shown = items.reduce(
    (window, item, at) => (isWithheld(item) ? window : widened(window, at, item)),
    EMPTY,
  );
  return shown.length === 0 ? items.length : firstShown(shown);
};
const shown = (items: readonly Item[]) => items.slice(shownFrom(items));

it('shows all while there is room, and nothing costs nothing', () => {
  expect(shownFrom([], () => false)).toBe(0);
  expect(shown([note, with_(1), note])).toHaveLength(2);
  expect(shown(Array(SHOWN_FILES).fill(with_(1)))).toHaveLength(SHOWN_FILES);
});

it('V1 never more files or bytes than a request takes, at any length', () => {
  for (const item of [with_(1), with_(5 * MB, 5 * MB), with_(MB, MB, MB)]) {
    for (let n = 1; n < 60; n++) {
      const files = shown(Array(n).fill(item)).flatMap(filesOf);
      expect(files.length).toBeLessThanOrEqual(SHOWN_FILES);
      expect(files.reduce((sum, file) => sum + file.bytes, 0)).toBeLessThanOrEqual(SHOWN_BYTES);
    }
  }
});

it('V2 the beginning of the window stays for many images', () => {
  const starts = Array.from({ length: 100 }, (_, n) => shownFrom(Array(n + 1).fill(with_(1)), () => false));
  // After the first twenty, it moves once in eleven messages.
  expect(new Set(starts).size).toBeLessThanOrEqual(9);
  expect(starts).toEqual([...starts].sort((a, b) => a - b));
});

it('V3 what was said last is shown as a whole', () => {
  const last = with_(5 * MB, 5 * MB, 4 * MB);
  expect(shown([with_(MB), with_(MB), last])).toEqual([last]);
});

it('what is withheld takes no room', () => {
  const large = with_(5 * MB, 5 * MB);
  const items = [with_(1), large, large, with_(2)];
  expect(shownFrom(items, (item) => item === large)).toBe(0);
});
