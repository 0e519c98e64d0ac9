/** What a clause is: a function from a subject's lives to findings and evidence, and helpers that several clauses share. */

import type { Life, Lives } from './lives.ts';
import type { Service } from './port.ts';
import type { World } from './world.ts';

export interface Judgement {
  /** What was violated; none when the clause is kept. */
  readonly violations: readonly string[];
  /** What was seen, in a line each. */
  readonly evidence: readonly string[];
}

export interface Clause {
  readonly name: string;
  readonly title: string;
  judge(lives: Lives): Promise<Judgement>;
}

export const SERVICES: readonly Service[] = ['keyed', 'queryable', 'blind'];

export interface Bench {
  readonly lives: Lives;
  readonly world: World;
  readonly folder: string;
}

/** Opens the folder anew after a crash, and lets everything come to rest. */
export async function recovered({ lives, world, folder }: Bench, sessions: readonly string[]): Promise<Life> {
  const life = await lives.open(folder, world);
  await life.recover();
  for (const session of sessions) await life.rest(session);
  return life;
}

/** The results that the model was told of a call with this name in it, in any of its requests. */
export function toldOf(world: World, what: string): readonly { status: string; text: string }[] {
  return world.told.flatMap((conversation) =>
    conversation.flatMap((told, i) => {
      if (told.role !== 'result') return [];
      const call = conversation.slice(0, i).findLast(({ role }) => role === 'assistant');
      const isIts = call?.role === 'assistant' && call.calls.some((wanted) => wanted.what === what);
      return isIts ? [{ status: told.status, text: told.text }] : [];
    }),
  );
}

export const isPrefix = (before: readonly string[], after: readonly string[]): boolean =>
  before.length <= after.length && before.every((entry, i) => entry === after[i]);

export const count = (entries: readonly string[], entry: string): number =>
  entries.filter((one) => one === entry).length;

/** What differs first between two lists, in words; null when they are equal. */
export function difference(a: readonly string[], b: readonly string[]): string | null {
  const length = Math.max(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return `entry ${i + 1}: ${a[i] ?? 'none'} / ${b[i] ?? 'none'}`;
  }
  return null;
}
