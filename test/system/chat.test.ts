/** The conversation as a clone has it: the scripted planner talks, and does what its tasks are asked, in its words. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { scriptedPlanner } from '../../src/models/scripted/planner.ts';
import { type Harness, harness } from '../../src/testing/harness.ts';

let h: Harness;
beforeEach(() => {
  h = harness({ model: scriptedPlanner() });
});
afterEach(async () => {
  h.end();
  expect(await h.unsound()).toEqual([]);
});

const said = async (id: string) =>
  (await h.log(id)).flatMap((event) => (event.kind === 'response.surfaced' ? [event] : []));

const quiet = (id: string) =>
  h.until(async () => {
    const s = await h.state(id);
    return (
      !s.turn && s.inbox.unread.length === 0 && s.family.children.every(({ asked }) => asked.length === 0)
    );
  }, 'nothing is at work');

test('two reports that come one after the other are both relayed', async () => {
  const id = await h.converse("Report on February's invoices");
  await h.done(h.api.send(id, "Report on May's invoices", { when: 'later' }));
  await quiet(id);
  const tasks = (await h.state(id)).family.children.map((child) => child.id);
  const relayed = (await said(id)).flatMap((event) => event.relayed ?? []).map(({ task }) => task);
  expect([...relayed].sort()).toEqual([...tasks].sort());
  expect(tasks).toHaveLength(2);
});

test("the demo's requests: a report that stays open, the same for another month, and a stop", async () => {
  const id = await h.converse("Report on February's invoices");
  await quiet(id);
  const [started, result] = await said(id);
  expect(started?.text).toBe('It is started, and reports here.');
  const [task] = (await h.state(id)).family.children;
  expect(result?.relayed).toMatchObject([{ task: task?.id }]);
  expect((await h.state(task?.id as string)).contract).toMatchObject({ persist: true });
  await h.tell(id, 'Now do the same for March');
  await quiet(id);
  await h.tell(id, 'Leave out the test customer');
  await quiet(id);
  expect((await h.state(id)).family.children).toHaveLength(1);
  const told = (await h.log(task?.id as string)).flatMap((e) =>
    e.kind === 'message.accepted' ? [e.text] : [],
  );
  expect(told).toEqual([
    "Report on February's invoices",
    'Now do the same for March',
    'Leave out the test customer',
  ]);
  await h.tell(id, 'Report on April’s invoices');
  await quiet(id);
  const [february, april] = (await h.state(id)).family.children;
  await h.tell(id, 'stop');
  await h.until(
    async () => (await h.store.row(april?.id as never))?.phase === 'stopped',
    'the newest is stopped',
  );
  expect((await h.store.row(february?.id as never))?.phase).not.toBe('stopped');
  await h.tell(id, 'What is the weather?');
  expect((await said(id)).at(-1)?.text).toContain('I am a scripted planner and no model');
});
