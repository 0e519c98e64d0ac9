// What a cell of Python gave: its last value or rows as a table, what it printed, its error, and its plots as images.
// A plot is shown only when its bytes are those of a PNG, whatever its name says: nothing else of a task becomes an image.

import { el } from './dom.js';

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const PLOT = /(?:^|\/)(plots\/[^/]+\.png)$/;
/** A larger one is named and not drawn. */
const MOST_BYTES = 8 * 1024 * 1024;
/** `String.fromCharCode` takes so many arguments at once. */
const CHUNK = 0x8000;

/** The parts of a result that are there, in reading order. */
export function shownResult({ value, table, output, error, lost }) {
  return [
    output ? el('pre', { class: 'output' }, output) : null,
    error ? el('pre', { class: 'output bad' }, error) : null,
    table ? tableOf(table) : null,
    value === undefined ? null : el('pre', { class: 'output value' }, value),
    lost ? el('pre', { class: 'output bad' }, lost) : null,
  ].filter((part) => part !== null);
}

function tableOf({ columns, rows, of: [count, width] }) {
  const isCut = rows.length < count;
  const size = `${count} rows × ${width} columns${isCut ? `, the first ${rows.length}` : ''}`;
  const cells = (tag, texts) => el('tr', {}, ...texts.map((text) => el(tag, {}, String(text))));
  return el(
    'div',
    { class: 'rows' },
    el(
      'table',
      {},
      el('caption', {}, size),
      el('thead', {}, cells('th', columns)),
      el('tbody', {}, ...rows.map((row) => cells('td', row))),
    ),
  );
}

/** A place for each plot of a result, filled when it comes near the view. `read(path, at, from)` gives a piece of a file. */
export function shownPlots(plots, at, read) {
  return plots.flatMap((plot) => {
    const [, path] = PLOT.exec(plot) ?? [];
    if (path === undefined) return [];
    const figure = el('figure', { class: 'plot' }, el('figcaption', {}, path));
    whenNear(figure, async () => {
      try {
        const image = el('img', { src: await pngOf(path, at, read), alt: `Plot ${path}` });
        figure.prepend(image);
      } catch (error) {
        figure.append(el('p', { class: 'note warn' }, error.message));
      }
    });
    return [figure];
  });
}

async function pngOf(path, at, read) {
  const pieces = [];
  for (let from = 0; from !== null; ) {
    const { data, next, size } = await read(path, at, from);
    if (size > MOST_BYTES) throw new Error(`It has ${size} bytes, too many to be shown here.`);
    pieces.push(atob(data));
    from = next;
  }
  const bytes = Uint8Array.from(pieces.join(''), (char) => char.charCodeAt(0));
  if (PNG.some((byte, i) => bytes[i] !== byte)) throw new Error('It is not a PNG, and is not shown.');
  return `data:image/png;base64,${base64(bytes)}`;
}

function base64(bytes) {
  let text = '';
  for (let i = 0; i < bytes.length; i += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
  }
  return btoa(text);
}

function whenNear(node, act) {
  const seen = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      act();
    },
    { rootMargin: '600px' },
  );
  seen.observe(node);
}
