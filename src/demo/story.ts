/**
 * The story of the demo, step by step. Kills land where they hurt: the services hold a request at a known point, the
 * server gets SIGKILL there, and the next one has nothing but the store.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hooksOf } from '../services/hook-client.ts';
import { isRight, look, sameClient } from './judge.ts';
import { endOf, Stage, type StageOptions } from './stage.ts';

export interface Figures {
  readonly turns: number;
  readonly kills: number;
  readonly mailsSent: number;
  /** One number for each turn. */
  readonly authCalls: readonly number[];
  readonly accountLookups: readonly number[];
  readonly liveObjectsKept: boolean;
  readonly reportsRight: boolean;
  readonly modelCalls: number;
}

export async function tell(options: StageOptions): Promise<{ figures: Figures; wrong: readonly string[] }> {
  const story = new Story(options);
  try {
    return await story.play();
  } finally {
    await story.leave();
  }
}

class Story extends Stage {
  private readonly counts: ReturnType<typeof look>[] = [];
  private identical = false;

  async play(): Promise<{ figures: Figures; wrong: readonly string[] }> {
    const { say, dataDir } = this.options;
    await this.open('A server on an empty folder, with a billing and a mailing service beside it');
    const { model } = await this.outlast.health();
    say.fact(`model: ${model?.name ?? 'not told'}`);

    say.act(`outlast start --persist "Report on February's invoices"`);
    const started = await this.outlast.start({ message: "Report on February's invoices", persist: true });
    this.session = started.session;
    const watched = this.watch();
    const february = await this.answer(1);

    await this.kill('while the task awaits input');
    await this.open('The same folder, a new process');

    const march = await this.march();
    await this.mail();
    await this.verify();
    await this.stop();
    await this.leave();
    await watched;

    const figures: Figures = {
      turns: this.log.filter((event) => event.kind === 'response.surfaced').length,
      kills: this.kills,
      mailsSent: look(dataDir).mailsSent,
      authCalls: this.perTurn((books) => books.authCalls),
      accountLookups: this.perTurn((books) => books.accountLookups),
      liveObjectsKept: this.liveObjectsKept(),
      reportsRight: isRight(february, '2026-02', false) && isRight(march, '2026-03', true),
      modelCalls: this.log.filter((e) => e.kind === 'model.completed' || e.kind === 'model.failed').length,
    };
    return { figures, wrong: this.judge(figures) };
  }

  /** Killed in the middle of a cell; corrected while it runs. */
  private async march(): Promise<string> {
    const { say, dataDir } = this.options;
    const hooks = hooksOf(await sampleUrl(dataDir, 'billing'), dataDir);
    await hooks.arm({ hold: 'invoices.page', phase: 'before', where: { page: 2 } });
    say.act(`outlast send ${this.short()} "Now do the same for March"`);
    const receipt = await this.outlast.send(this.session, 'Now do the same for March');
    say.fact(`receipt ${receipt.message}: ${receipt.rule}`);
    await hooks.waitHeld(20_000);
    await this.kill('while the cell awaits its second page of invoices');
    await hooks.arm({ hold: 'invoices.page', phase: 'before', where: { page: 3 } });
    await this.open('The cell goes on from its line');
    await hooks.waitHeld(20_000);

    say.act(`outlast send ${this.short()} "leave out the test customer"   (while it runs)`);
    const correction = await this.outlast.send(this.session, 'leave out the test customer');
    say.fact(`receipt ${correction.message}: ${correction.rule}`);
    await hooks.release();
    return this.answer(2);
  }

  /** Killed after the mail was accepted and before that was known here. */
  private async mail(): Promise<void> {
    const { say, dataDir } = this.options;
    const hooks = hooksOf(await sampleUrl(dataDir, 'mailing'), dataDir);
    await hooks.arm({ hold: 'mail.accepted', phase: 'after' });
    say.act(`outlast send ${this.short()} "Mail the report to the owner"`);
    await this.outlast.send(this.session, 'Mail the report to the owner');
    await hooks.waitHeld(20_000);
    await this.kill('after the mailing service has accepted, before its answer was saved');
    await this.open('Was it sent? Nobody here knows; the service is asked');
    await this.answer(3);
    const { ledger } = await this.outlast.inspect(this.session);
    const mail = ledger.find((row) => row.capability === 'queryable');
    say.fact(
      `the ledger: ${mail?.effect} ${mail?.status}, ${mail?.attempts} attempt; known by ${mail?.evidence}`,
    );
    say.fact(`the mailing service's books: ${look(dataDir).mailsSent} mail`);
  }

  private async verify(): Promise<void> {
    const { say } = this.options;
    say.act(`outlast verify ${this.short()}`);
    const { identical, moves, restores, violations } = await this.outlast.verify(this.session);
    say.fact(
      `${moves} moves of the heap replayed, ${restores} restores among them: ` +
        `${identical ? 'bit for bit the heap that stands' : 'NOT the heap that stands'}; ${violations.length} violations`,
    );
    this.identical = identical === true && violations.length === 0;
  }

  private async stop(): Promise<void> {
    const { say } = this.options;
    say.act(`outlast stop ${this.short()}`);
    const { status } = await this.outlast.stop(this.session);
    say.fact(`${status}; the log stays, and outlast reopen ${this.short()} works`);
    const { phase } = await this.outlast.reopen(this.session);
    say.fact(`reopened: ${phase}`);
    await this.outlast.stop(this.session);
  }

  private async answer(turn: number): Promise<string> {
    const { say, dataDir } = this.options;
    const event = await this.seen((e) => endOf(e, turn));
    const text = event.kind === 'response.surfaced' ? event.text : '';
    say.answer(text);
    const books = look(dataDir);
    const before = this.counts.at(-1);
    this.counts.push(books);
    const auth = books.authCalls - (before?.authCalls ?? 0);
    const lookups = books.accountLookups - (before?.accountLookups ?? 0);
    say.fact(`turn ${turn} by the services' books: ${auth} authentication calls, ${lookups} account lookups`);
    return text;
  }

  private perTurn(count: (books: ReturnType<typeof look>) => number): number[] {
    return this.counts.map((books, i) => {
      const before = this.counts[i - 1];
      return count(books) - (before ? count(before) : 0);
    });
  }

  /** In every later turn, the cells themselves compared the client with the one that the first turn made. */
  private liveObjectsKept(): boolean {
    const later = this.log.findIndex((event) => event.kind === 'turn.started' && event.turn === 2);
    return later > 0 && sameClient(this.log.slice(later));
  }

  private judge(figures: Figures): readonly string[] {
    const wrong: string[] = [];
    const expect = (holds: boolean, what: string): void => {
      if (!holds) wrong.push(what);
    };
    expect(figures.turns === 3, `3 turns, found ${figures.turns}`);
    expect(figures.kills === 3, `3 kills, found ${figures.kills}`);
    expect(figures.mailsSent === 1, `1 mail in the books, found ${figures.mailsSent}`);
    expect(
      figures.authCalls.slice(1).every((n) => n === 0),
      `no authentication after turn 1, found ${figures.authCalls.join(', ')}`,
    );
    expect(
      figures.accountLookups.slice(1).every((n) => n === 0),
      `no account lookup after turn 1, found ${figures.accountLookups.join(', ')}`,
    );
    expect(figures.liveObjectsKept, 'the client of turn 1 is the client of turn 2');
    expect(figures.reportsRight, 'both reports as the books have them');
    expect(this.identical, 'the journal leads to the heap that stands');
    return wrong;
  }

  private short(): string {
    return `${this.session.slice(0, 10)}…`;
  }
}

async function sampleUrl(dataDir: string, service: 'billing' | 'mailing'): Promise<string> {
  const notes = JSON.parse(await readFile(join(dataDir, 'books', 'services.json'), 'utf8'));
  return notes[service].url;
}
