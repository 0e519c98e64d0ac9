/** A process that plays its part of the runs. It ends with its parent. */

import { campaign } from './campaign.ts';
import type { Task, Word } from './hands.ts';
import { BookReader } from './service/book.ts';

const say = (word: Word): void => void process.send?.(word);

process.on('disconnect', () => process.exit(0));
process.once('message', async ({ books, urls, ...task }: Task) => {
  const outcomes = await campaign(
    { reader: new BookReader(books), urls },
    { ...task, signal: new AbortController().signal, onRun: () => say({ ran: true }) },
  );
  say({ outcomes });
});
