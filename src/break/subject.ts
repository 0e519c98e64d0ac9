/**
 * One's own tools in the bench: `outlast break --with FILE`. The file says what a run wants, brings the tools that do it, and
 * reads the books. The bench brings the worker that dies, the strategies and the judge.
 *
 * U1  Where the built-in services are told to lose or to delay a request, here the bench stands in: it does not make the
 *     call, or makes it after the crash. The tool itself is run as it is.
 * U2  A strategy is one's own tool, declared otherwise. What it declares for itself is what Outlast goes by.
 */

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Capability } from '../core/capability.ts';
import { systemClock } from '../lib/clock.ts';
import type { Json } from '../lib/json.ts';
import type { Model } from '../models/port.ts';
import { fetchTool } from '../tools/fetch/fetch.ts';
import type { Grant } from '../tools/fetch/grant.ts';
import { httpTool } from '../tools/fetch/http.ts';
import { isRefusal, type Tool } from '../tools/port.ts';
import { agent, type Claim, claimsIn, type Order, orderText } from './agent.ts';
import { AWAY_MS, type Boundary, LATE_MS } from './terms.ts';
import type { Entry, RunWorld } from './world.ts';

/** What the file exports by default. */
export interface Subject {
  readonly name: string;
  /** How late a request may still be applied; the bench delays some by a part of it. Default 500. */
  readonly lateMs?: number;
  /** Everything for one run. `run` is unique: put it into what is asked for, so that the books tell runs apart. */
  open(run: string): SubjectRun | Promise<SubjectRun>;
}

export interface SubjectRun {
  readonly tools?: readonly Tool[];
  readonly grants?: readonly Grant[];
  /** What is wanted: each call once, and how the books name what it does. */
  readonly calls: readonly { readonly tool: string; readonly args: Json; readonly what: string }[];
  /** All rows of this run: what it is, when it was booked (ms since the epoch), and when it was undone. */
  books(): Promise<readonly SubjectRow[]> | readonly SubjectRow[];
  /** One's own agent instead of the scripted one, what to say to it, and what its answers claim. */
  readonly model?: Model;
  readonly message?: string;
  readonly claims?: (text: string) => readonly Claim[];
  close?(): Promise<void> | void;
}

export interface SubjectRow {
  readonly what: string;
  readonly at: number;
  readonly undoneAt?: number | null;
}

export async function loadSubject(file: string): Promise<Subject> {
  const { default: subject } = (await import(pathToFileURL(resolve(file)).href)) as { default?: Subject };
  if (typeof subject?.open !== 'function' || typeof subject.name !== 'string')
    throw new Error(`${file} must export by default an object with "name" and "open(run)"`);
  return subject;
}

/** Sealed fields of a grant are opened again by the same process only. */
const PLAIN = { seal: (bytes: Uint8Array) => bytes, open: (bytes: Uint8Array) => bytes };

export interface SubjectWorld extends RunWorld {
  readonly capability: Capability;
  readonly claims: (text: string) => readonly Claim[];
  readonly lateMs: number;
}

export async function subjectWorld(subject: Subject, run: string): Promise<SubjectWorld> {
  const opened = await subject.open(run);
  const { grants = [], tools: own = [], calls, message, claims = claimsIn } = opened;
  const fetching = grants.length > 0 ? [fetchTool({ grants, sealer: PLAIN })] : [];
  const tools = [...fetching, ...fetching.map(httpTool), ...own];
  const { lateMs = LATE_MS } = subject;
  const stand = standIn(lateMs);
  return {
    calls: calls.map(({ tool, args, what }) => ({ tool, args, what: [what] })),
    together: false,
    model: opened.model ?? agent(),
    message: (order: Order) => (message === undefined ? orderText(order) : said(message, order)),
    tools: () => tools.map(stand.tool),
    async entries(): Promise<readonly Entry[]> {
      const rows = await opened.books();
      return rows.map(({ what, at, undoneAt = null }) => ({ what, at, undoneAt }));
    },
    async arm(boundary, delayMs) {
      // In the same place of one's own bound as in that of the built-in services.
      stand.arm(boundary, (delayMs / LATE_MS) * lateMs);
    },
    seen: () => stand.seen,
    quiet: () => stand.quiet(),
    close: async () => opened.close?.(),
    capability: capabilityOf(tools, calls),
    ...{ claims, lateMs },
  };
}

/** What the service can do in truth: the weakest of what the tools declare. */
function capabilityOf(tools: readonly Tool[], calls: SubjectRun['calls']): Capability {
  const declared = calls.flatMap(({ tool, args }) => {
    const plan = tools.find(({ spec }) => spec.name === tool)?.plan(args);
    return plan && !isRefusal(plan) ? [plan.capability] : [];
  });
  return declared.find(({ kind }) => kind === 'blind') ?? declared[0] ?? { kind: 'blind' };
}

/** An agent of one's own that stands on a transcript is told it in words. */
const said = (message: string, { before }: Order): string =>
  before.length === 0
    ? message
    : `${message}\n\nSo far:\n${before.map((step) => JSON.stringify(step)).join('\n')}`;

/** U1. A late call that a stalled machine makes later than the tool's bound is told as missed: it breaks the promise. */
function standIn(lateMs: number): {
  tool(real: Tool): Tool;
  arm(boundary: Boundary, delayMs: number): void;
  readonly seen: Promise<void> | null;
  quiet(): Promise<{ missed: number; lateAt: number | null }>;
} {
  let fate: 'lost' | 'late' | 'mute' | null = null;
  let delayMs = 0;
  let seen: Promise<void> | null = null;
  let told: () => void = () => {};
  let late: Promise<void> | null = null;
  let lateAt: number | null = null;
  let missed = 0;
  return {
    arm(boundary, delay) {
      fate = FATES[boundary] ?? null;
      delayMs = Math.min(delay, AWAY_MS);
      if (fate) seen = new Promise((resolve) => (told = resolve));
    },
    get seen() {
      return seen;
    },
    async quiet() {
      await late;
      return { missed, lateAt };
    },
    tool: (real) => ({
      ...real,
      async run(args, context) {
        const now = fate;
        fate = null;
        const sent = systemClock.monotonic();
        if (now === null) return real.run(args, context);
        const outlives = { ...context, reference: context.reference, signal: new AbortController().signal };
        if (now === 'mute') await real.run(args, outlives);
        if (now === 'late')
          late = systemClock.sleep(delayMs).then(async () => {
            lateAt = systemClock.now();
            await real.run(args, outlives).catch(() => {});
            if (systemClock.monotonic() - sent > lateMs) missed++;
          });
        told();
        return new Promise(() => {});
      },
    }),
  };
}

const FATES: Partial<Record<Boundary, 'lost' | 'late' | 'mute'>> = {
  lost: 'lost',
  late: 'late',
  applied: 'mute',
  recovery: 'mute',
  cancel: 'mute',
};
