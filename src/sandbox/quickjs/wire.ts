/**
 * What the guest says at rest, read as one reads a stranger's letter.
 *
 * R1  Every member is checked for type, form and size; anything else is a broken engine, never a crash here and never
 *     a call that was not made.
 */

import type { CellEnd, LiveObject } from '../../core/heap/event.ts';
import { isRecord } from '../../lib/json.ts';
import { head } from '../../lib/text.ts';
import type { GuestCall } from '../port.ts';
import { clipOutput } from './guest/output.ts';
import { Stopped } from './instance.ts';

const LIVE = 500;
const NAME = /^(fetch|timer|tools\.[A-Za-z0-9_.-]{1,100})$/;

export interface Said {
  readonly calls: readonly GuestCall[];
  readonly ended: readonly { readonly cell: string; readonly end: CellEnd }[];
  readonly output: string;
  readonly live: readonly LiveObject[];
}

export function parseSaid(text: string, outputChars: number): Said {
  const said = parse(text);
  if (!isRecord(said)) throw broken('no object');
  return {
    calls: list(said.calls).map(guestCall),
    ended: list(said.ended).map((end) => ended(end, outputChars)),
    output: output(said, outputChars),
    live: list(said.live).map(liveObject).sort(byName).slice(0, LIVE),
  };
}

/** The output of a guest that was stopped; what it says may be of any form then. */
export function parseLastWords(text: string, outputChars: number): string {
  try {
    return parseSaid(text, outputChars).output;
  } catch {
    return '';
  }
}

function guestCall(value: unknown): GuestCall {
  if (!isRecord(value)) throw broken('a call');
  const { guestCall, name, args } = value;
  if (typeof guestCall !== 'number' || !Number.isSafeInteger(guestCall) || guestCall < 1)
    throw broken('a number');
  if (typeof name !== 'string' || !NAME.test(name)) throw broken('the name of a call');
  if (typeof args !== 'string' || parse(args) === undefined) throw broken('the arguments of a call');
  return { guestCall, name, args };
}

function ended(value: unknown, max: number): { cell: string; end: CellEnd } {
  if (!isRecord(value) || typeof value.cell !== 'string' || !isRecord(value.end)) throw broken('an end');
  const { status, value: done, error } = value.end;
  if (status === 'done' && typeof done === 'string')
    return { cell: value.cell, end: { status, value: cut(done, max) } };
  if (status === 'failed' && typeof error === 'string')
    return { cell: value.cell, end: { status, error: cut(error, max) } };
  throw broken('an end');
}

function output({ head, tail, total }: Record<string, unknown>, max: number): string {
  if (typeof head !== 'string' || typeof tail !== 'string' || typeof total !== 'number')
    throw broken('output');
  return wellFormed(clipOutput(head, tail, total, max));
}

function liveObject(value: unknown): LiveObject {
  const [name, type, size] = list(value);
  if (typeof name !== 'string' || typeof type !== 'string') throw broken('a live object');
  const known = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null;
  return { name: wellFormed(name), type: wellFormed(head(type, 60)), size: known };
}

const byName = (a: LiveObject, b: LiveObject) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

const cut = (text: string, max: number) => wellFormed(text.length <= max ? text : `${head(text, max)}…`);

/** Half a surrogate pair, which a cell may well print, cannot be stored everywhere: it becomes U+FFFD. */
const wellFormed = (text: string) => Buffer.from(text, 'utf8').toString('utf8');

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw broken('a list');
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const broken = (what: string) => new Stopped('poisoned', `the guest said something unreadable: ${what}`);
