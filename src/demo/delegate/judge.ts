/** What became of the children, judged by all logs and by the books of the billing service. */

import type { Event, ForeignEvent } from '../../core/event.ts';
import { accounts, truth } from '../../services/billing/world.ts';
import { distinct, readBooks } from '../../services/books.ts';

type Log = readonly (Event | ForeignEvent)[];

/** A session of the server, and whose child its row says it is. */
export interface Found {
  readonly id: string;
  readonly parent: string | null;
  readonly phase: string;
  readonly log: Log;
}

export interface Line {
  readonly account: string;
  readonly child: string;
  readonly results: number;
  /** Whether the child's own answer names what the books of the service say. */
  readonly isRight: boolean;
  /** Logins by the books: each child authenticates once, in three calls. */
  readonly logins: number;
}

export interface Judged {
  readonly lines: readonly Line[];
  readonly spawned: number;
  /** Answers that the parent has, each counted once. */
  readonly results: number;
  /** Children that their parent does not know, that owe it an answer, or whose parent nobody knows. */
  readonly orphans: number;
  /** Answers told twice, accounts with more than one child, and logins done twice. */
  readonly duplicates: number;
}

export function judge(parent: string, sessions: readonly Found[], dataDir: string, month: string): Judged {
  const log = sessions.find(({ id }) => id === parent)?.log ?? [];
  const spawned = log.flatMap((event) => (event.kind === 'child.spawned' ? [event] : []));
  const told = log.flatMap((event) =>
    event.kind === 'child.reported' && event.result ? [{ child: event.child, ...event.result }] : [],
  );
  const answers = told.filter(({ end }) => end === 'surfaced');
  const children = sessions.filter(({ id }) => id !== parent);
  const tokens = distinct(readBooks(dataDir, 'billing').rows, 'auth.token');
  const lines = accounts.map(({ id, name }): Line => {
    const [own] = children.filter((child) => accountOf(child) === id);
    const ofChild = answers.filter(({ child }) => child === own?.id);
    return {
      account: name,
      child: own?.id ?? '',
      results: ofChild.length,
      isRight: isRight(ofChild.at(-1)?.text ?? '', id, month),
      logins: tokens.filter((row) => row.kind === 'auth.token' && row.account === id).length,
    };
  });
  const known = new Set(spawned.map(({ child }): string => child));
  const isOrphan = ({ id, parent: of }: Found): boolean =>
    of !== parent || !known.has(id) || !answers.some(({ child }) => child === id);
  const twice = (marks: readonly string[]): number => marks.length - new Set(marks).size;
  return {
    lines,
    spawned: children.filter(({ parent: of }) => of === parent).length,
    results: new Set(answers.map(({ child, turn }) => `${child} ${turn}`)).size,
    orphans: children.filter(isOrphan).length,
    duplicates:
      twice(told.map(({ child, seq }) => `${child} ${seq}`)) +
      twice(children.map(accountOf)) +
      lines.reduce((sum, { logins }) => sum + Math.max(0, logins - 1), 0),
  };
}

/** By its order. "Northwind Trading" stands in "Northwind Trading Canada", too: the longest name counts. */
function accountOf({ log }: Found): string {
  const order = log.flatMap((event) => (event.kind === 'message.accepted' ? [event.text] : []))[0] ?? '';
  const named = accounts.filter(({ name }) => order.includes(name));
  return named.sort((a, b) => b.name.length - a.name.length)[0]?.id ?? 'none';
}

function isRight(report: string, accountId: string, month: string): boolean {
  const { count, totalCents } = truth({ accountId, month });
  const digits = String(totalCents).padStart(3, '0');
  const whole = digits.slice(0, -2);
  const plain = report.replaceAll(',', '');
  return new RegExp(`\\b${count}\\b`).test(plain) && plain.includes(`${whole}.${digits.slice(-2)}`);
}
