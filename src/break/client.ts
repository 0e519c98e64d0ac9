/** The client side of the bench's services: one tool, declared truly. What strategies do with it is `strategies.ts`. */

import type { Capability } from '../core/capability.ts';
import type { Json } from '../lib/json.ts';
import { defineTool } from '../tools/own.ts';
import type { RunContext, Tool } from '../tools/port.ts';
import { PROFILES } from './service/profile.ts';
import { LAG_MS, LATE_MS, RETENTION_MS, type Service } from './terms.ts';

/** What each service promises, as Outlast's user declares it. A batch is declared for one item. */
export const PROMISES: Readonly<Record<Service, Capability>> = {
  keyed: { kind: 'keyed', retentionMs: 365 * 24 * 3_600_000 },
  expiring: { kind: 'keyed', retentionMs: RETENTION_MS },
  queryable: { kind: 'queryable', lateMs: LATE_MS },
  lagging: { kind: 'queryable', lateMs: LATE_MS + LAG_MS },
  cancelable: { kind: 'cancelable', lateMs: LATE_MS },
  blind: { kind: 'blind' },
  batch: { kind: 'queryable', lateMs: LATE_MS },
};

/** The tool that the agent calls. */
export const TOOL = 'pay';

interface Found {
  readonly id: number;
  readonly what: string;
  readonly undone: boolean;
}

const TEXTS = { type: 'array', items: { type: 'string' } };

export function clientOf(service: Service, url: string, { splits }: { splits: boolean }): Tool {
  const inOne = service === 'batch' && !splits;
  const itemsIn = (args: Json): readonly string[] => {
    const { what, items } = args as { what?: string; items?: readonly string[] };
    return items ?? [what ?? ''];
  };
  const { isAskable, canUndo } = PROFILES[service];

  async function call(path: string, init: RequestInit, signal: AbortSignal): Promise<unknown> {
    const response = await fetch(`${url}${path}`, { ...init, signal });
    if (!response.ok) throw new Error(`${service} answered ${response.status}`);
    return response.json();
  }

  async function lookup({ reference, signal }: RunContext): Promise<readonly Found[]> {
    const path = `/done?reference=${encodeURIComponent(reference)}`;
    const { records } = (await call(path, {}, signal)) as { records: readonly Found[] };
    return records;
  }

  return defineTool({
    name: TOOL,
    description: 'Pays what is named.',
    input: {
      type: 'object',
      properties: inOne ? { items: TEXTS } : { what: { type: 'string' } },
      required: [inOne ? 'items' : 'what'],
    },
    capability: PROMISES[service],
    target: `POST ${service}`,
    identity: (args) => itemsIn(args).join(' '),
    async run(args, { reference, signal }) {
      const headers: Record<string, string> = { 'content-type': 'application/json' };
      if (service !== 'blind')
        headers[PROFILES[service].keptMs === null ? 'x-reference' : 'idempotency-key'] = reference;
      const body = JSON.stringify({ items: itemsIn(args) });
      await call('/do', { method: 'POST', headers, body }, signal);
      return { paid: itemsIn(args) };
    },
    ...(isAskable && {
      async find(args: Json, context: RunContext) {
        const isThere = (await lookup(context)).some(({ undone }) => !undone);
        return isThere
          ? { status: 'done' as const, result: { paid: [...itemsIn(args)] } }
          : { status: 'absent' as const };
      },
    }),
    ...(canUndo && {
      async audit(args: Json, context: RunContext) {
        const all = await lookup(context);
        const [kept, ...extras] = all.filter(({ undone }) => !undone);
        for (const { id } of extras) await call(`/done/${id}`, { method: 'DELETE' }, context.signal);
        const undone = all.length - (kept ? 1 : 0);
        return kept
          ? { finding: { status: 'done' as const, result: { paid: [...itemsIn(args)] } }, undone }
          : { finding: { status: 'absent' as const }, undone };
      },
    }),
  });
}
