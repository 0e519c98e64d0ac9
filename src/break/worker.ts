/** A worker in a process of its own, for `killed.ts`: one life with a store on disk. It is ended by SIGKILL. */

import { sqliteStore } from '../store/sqlite/open.ts';
import { orderText } from './agent.ts';
import type { Report, Life as Task } from './killed.ts';
import { Life, type Trap } from './life.ts';
import { machine } from './machine.ts';
import { Person } from './person.ts';
import { aboutOf } from './score.ts';
import { BookReader } from './service/book.ts';
import { waysOf } from './strategies.ts';
import { inRecovery, trapAt } from './traps.ts';
import { builtInWorld } from './world.ts';

const LEASE_MS = 15_000;

const say = (report: Report): void => void process.send?.(report);

process.on('disconnect', () => process.exit(0));
process.once('message', async (task: Task) => {
  const { cell, run, books, urls, dir, holder, before, trap } = task;
  const { splits, recast, marks, fences } = waysOf(cell.strategy);
  if (!marks || !fences) throw new Error('ablations of the store are not run as processes');
  const reader = new BookReader(books);
  const { service, variant, boundary } = cell;
  const world = builtInWorld({ reader, urls }, { run, service, variant, splits, message: orderText });
  const person = new Person({ entries: () => world.entries(), about: aboutOf(world) });
  const store = await sqliteStore({ dir, waitMs: 10_000 });
  const trapped: Trap =
    trap === 'boundary' ? trapAt(cell, world, here) : trap === 'recovery' ? inRecovery(here) : {};
  const life: Life = new Life({
    ...trapped,
    // Told at once: a worker that is killed has nothing to say any more.
    replied(reply) {
      say({ say: 'used', calls: life.calls, tokens: life.tokens });
      return trapped.replied?.(reply);
    },
  });
  const { model, calls, together } = world;
  const tools = world.tools().map(recast);
  const outlast = machine(life, { store, tools, model, holder, leaseMs: LEASE_MS });
  const message = orderText({ calls, together, before });
  // Told at once: the parent may kill at any moment from here on.
  const session = task.session ?? (await outlast.start({ message, persist: true })).session;
  say({ say: 'session', session });
  const seat = { outlast, session, life };
  const told = new Set<number>();
  void person.follow(seat, (event) => {
    if (event.kind !== 'response.surfaced' || told.has(event.seq)) return;
    told.add(event.seq);
    say({ say: 'told', session, seq: event.seq, told: { at: event.at, text: event.text } });
    if (boundary === 'surfaced' && trap === 'boundary') here();
  });
  await person.attend(seat);
  for (const { at, text } of person.told) say({ say: 'told', session, seq: at, told: { at, text } });
  say({ say: 'rested' });

  function here(): void {
    life.die();
    say({ say: 'here' });
  }
});
