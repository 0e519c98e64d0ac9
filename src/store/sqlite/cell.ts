/**
 * Cells of a row as what they should be. A cell that is something else was not written by us: it throws `Rotten`.
 */

import type { Cell } from './driver.ts';

export class Rotten extends Error {
  override readonly name = 'Rotten';
}

export function asNumber(cell: Cell | undefined): number {
  if (typeof cell === 'number') return cell;
  throw new Rotten('a number was expected');
}

export function asBytes(cell: Cell | undefined): Uint8Array {
  if (cell instanceof Uint8Array) return cell;
  throw new Rotten('bytes were expected');
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function asText(cell: Cell | undefined): string {
  const bytes = asBytes(cell);
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Rotten('text was expected');
  }
}

export function asJson(cell: Cell | undefined): unknown {
  try {
    return JSON.parse(asText(cell));
  } catch {
    throw new Rotten('JSON was expected');
  }
}
