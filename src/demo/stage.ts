/** What the narrated jobs play on: a server that is opened and killed, and the log of one session, followed through both. */

import { EventEmitter, once } from 'node:events';
import { type Client, client } from '../client/client.ts';
import type { Event, ForeignEvent } from '../core/event.ts';
import type { Narrator } from './narrate.ts';
import { type ServerProcess, startServer } from './server.ts';

export interface StageOptions {
  readonly dataDir: string;
  readonly say: Narrator;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

export type Seen = Event | ForeignEvent;

export class Stage {
  readonly options: StageOptions;
  readonly outlast: Client;
  readonly log: Seen[] = [];
  session = '';
  kills = 0;
  private readonly watching = new AbortController();
  private readonly told = new EventEmitter();
  private server: ServerProcess | null = null;

  constructor(options: StageOptions) {
    this.options = options;
    this.outlast = client({ url: () => this.server?.url ?? 'http://127.0.0.1:9' });
  }

  /** `nodeArgs` go to Node itself. */
  async open(why: string, nodeArgs: readonly string[] = []): Promise<void> {
    const { say, dataDir, env } = this.options;
    say.act(why);
    this.server = await startServer(dataDir, env, nodeArgs);
  }

  async kill(when: string): Promise<void> {
    this.options.say.act(`kill -9 ${this.server?.pid}   (${when})`);
    await this.server?.kill();
    this.server = null;
    this.kills++;
  }

  /** The server ends as it does when it is asked to. */
  async close(): Promise<void> {
    await this.server?.end();
    this.server = null;
  }

  /** Follows the session through everything that happens to its server, until `leave`. */
  async watch(): Promise<void> {
    try {
      for await (const event of this.outlast.follow(this.session, { signal: this.watching.signal })) {
        if (event.kind === 'whisper') continue;
        this.log.push(event);
        this.options.say.event(event);
        this.told.emit('event');
      }
    } catch (error) {
      if (!this.watching.signal.aborted) throw error;
    }
  }

  /** The first such event after that one. `look` is called before each wait, and may throw. */
  async seen(
    is: (event: Seen) => boolean,
    { after = 0, look, signal = this.options.signal }: SeenOptions = {},
  ): Promise<Seen> {
    for (;;) {
      const found = this.log.find((event) => event.seq > after && is(event));
      if (found) return found;
      look?.();
      await once(this.told, 'event', { signal });
    }
  }

  async leave(): Promise<void> {
    this.watching.abort();
    await this.close();
  }
}

interface SeenOptions {
  readonly after?: number;
  readonly look?: () => void;
  readonly signal?: AbortSignal;
}

export function endOf(event: Seen, turn: number): boolean {
  return (event.kind === 'response.surfaced' || event.kind === 'turn.failed') && event.turn === turn;
}
