/**
 * The other end of the hooks: what a test or the demo holds in its hand to make a kill land.
 * Needs the data folder, since the key lies there; owns nothing.
 */
import { type HooksState, hookKey, type Phase } from './hooks.ts';

export interface HookOrder {
  /** The kind of the fact that the request books, like `invoices.page`. */
  readonly hold: string;
  readonly phase: Phase;
  /** Which of the next matching requests; the first when left out. */
  readonly at?: number;
  /** Only requests whose fact has these fields, like `{ page: 2 }`. */
  readonly where?: Readonly<Record<string, unknown>>;
  /** Lets go by itself after so many milliseconds; 30 s when left out. */
  readonly release?: number;
}

export interface HookClient {
  arm(order: HookOrder): Promise<HooksState>;
  /** Resolves when a request is held; rejects when none was within `timeoutMs`. */
  waitHeld(timeoutMs?: number): Promise<HooksState>;
  state(): Promise<HooksState>;
  /** Lets go what is held and disarms the rest. */
  release(): Promise<{ readonly released: number; readonly disarmed: number }>;
}

/**
 * `const hooks = hooksOf(billing.url, dataDir)`
 * `await hooks.arm({ hold: 'invoices.page', phase: 'before', where: { page: 2 } }); … await hooks.waitHeld();`
 */
export function hooksOf(url: string, dataDir: string): HookClient {
  return {
    arm: (order) => request('POST', '', order),
    waitHeld: async (timeoutMs = 15_000) => {
      const state = await request<HooksState>('GET', `?wait=held&timeoutMs=${timeoutMs}`);
      if (state.held.length === 0)
        throw new Error(`Nothing was held in ${timeoutMs} ms: ${JSON.stringify(state)}`);
      return state;
    },
    state: () => request('GET', ''),
    release: () => request('POST', '/release'),
  };

  async function request<T>(method: string, rest: string, body?: unknown): Promise<T> {
    const response = await fetch(`${url}/__hooks${rest}`, {
      method,
      headers: { 'x-hook-key': hookKey(dataDir) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`The hook was refused: ${await response.text()}`);
    return (await response.json()) as T;
  }
}
