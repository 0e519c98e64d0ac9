/** The page in a real browser: against a real server process that is killed on the way, and against a world at hand. */

import chromium from '@sparticuz/chromium';
import { type Browser, type Page, chromium as playwright } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { app } from '../../src/server/app.ts';
import { parseTokens } from '../../src/server/auth.ts';
import { type Listening, listen } from '../../src/server/listen.ts';
import { type ServerProcess, startServer, temporaryFolder } from './process.ts';
import { type World, world } from './world.ts';

let browser: Browser;
let page: Page;
let errors: string[];

beforeAll(async () => {
  const executablePath = await chromium.executablePath();
  // One process for all would end with the first page, and the rules of the web are what is tested here.
  const args = chromium.args.filter((arg) => !/single-process|no-zygote|disable-web-security/.test(arg));
  browser = await playwright.launch({ executablePath, args, headless: true });
}, 60_000);

afterAll(() => browser?.close());

beforeEach(async () => {
  errors = [];
  page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // A server that is away shows as failed requests; anything else is ours.
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      errors.push(message.text());
  });
});

afterEach(async () => {
  await page.close();
  expect(errors).toEqual([]);
});

describe('against a server process', () => {
  const data = temporaryFolder();
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServer({ data: data.path });
  });

  afterAll(async () => {
    await server.end();
    data.remove();
  });

  test('start, watch, send, lose the server and get it back, stop, reopen', async () => {
    await page.goto(server.url);
    await page.getByText('scripted planner, no model').waitFor();
    await page.getByLabel('What to do').fill("Report on February's invoices");
    await page.getByRole('button', { name: 'Start' }).click();

    const responses = page.locator('.response');
    await responses.filter({ hasText: 'February 2026' }).waitFor();
    await page.locator('.session[data-phase="awaiting_input"]').waitFor();
    expect(await page.locator('.cell').count()).toBeGreaterThan(2);
    expect(await page.locator('.cell .effect').count()).toBeGreaterThan(2);
    expect(await page.locator('.note.progress').count()).toBeGreaterThan(2);
    await page.locator('.beside .ledger tr[data-effect="e1"]').getByText('done').waitFor();
    await page.locator('.beside .live').getByText('BillingClient', { exact: true }).waitFor();
    await page.locator('.sessions [aria-current="page"]').getByText('awaiting input').waitFor();

    await server.kill();
    await page.getByText('the server is away').waitFor();
    server = await startServer({ data: data.path, port: server.port });
    await page.locator('.connection.live').waitFor();

    await page.getByLabel('Message').fill('Now do the same for March');
    await page.getByLabel('Message').press('Enter');
    await page.getByText('m2: starts turn 2').waitFor();
    await responses.filter({ hasText: 'March 2026' }).waitFor();
    expect(await responses.count()).toBe(2);
    await page.locator('.message').nth(1).getByText('read in turn 2').waitFor();
    expect(await page.locator('.message').count()).toBe(2);

    const before = await page.locator('.transcript > *').count();
    await page.reload();
    await responses.filter({ hasText: 'March 2026' }).waitFor();
    await expect.poll(() => page.locator('.transcript > *').count(), { timeout: 20_000 }).toBe(before);

    await page.getByRole('button', { name: 'stop' }).click();
    await page.locator('.session[data-phase="stopped"]').waitFor();
    await page.getByRole('button', { name: 'reopen' }).click();
    await page.locator('.session[data-phase="awaiting_input"]').waitFor();
  }, 90_000);
});

describe('against a world at hand', () => {
  let outlast: World;
  let listening: Listening;

  beforeEach(async () => {
    outlast = world();
  });

  afterEach(async () => {
    outlast.release();
    await page.goto('about:blank');
    await listening.close(100);
    await outlast.close();
  });

  const serve = async (tokens = '') => {
    const { fetch } = app(outlast, { tokens: parseTokens(tokens) });
    listening = await listen({ fetch, port: 0, hasTokens: tokens !== '' });
  };

  test('what was said is recalled by its words, and its original is a press away', async () => {
    await serve();
    const { session } = await outlast.start({ message: 'say hello to INV-2031-0042', persist: true });
    await page.goto(`${listening.url}/#/${session}`);
    await page.locator('.session[data-phase="awaiting_input"]').waitFor();
    await page.getByLabel('Recall words').fill('what of INV-2031-0042?');
    await page.getByLabel('Recall words').press('Enter');
    await page.locator('.recalled [data-id="#2"]').getByText('say hello to INV-2031-0042').waitFor();
    await page.getByRole('button', { name: '#2', exact: true }).click();
    await page.locator('.recalled h2').getByText('#2').waitFor();
    expect(await page.locator('.recalled pre').allTextContents()).toEqual(['say hello to INV-2031-0042']);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByLabel('Recall words').fill('zebra');
    await page.getByLabel('Recall words').press('Enter');
    await page.getByText('Nothing in its log has these words.').waitFor();
  });

  test('the recovery report is a press away: each kind of state, what became of it, and how that is known', async () => {
    await serve();
    const { session } = await outlast.start({ message: 'pay', persist: true });
    await page.goto(`${listening.url}/#/${session}`);
    await page.locator('.session[data-phase="awaiting_decision"]').waitFor();
    await page.getByRole('button', { name: 'report', exact: true }).click();
    await page.locator('.reported').getByText('Nothing was ever lost.').waitFor();
    const lines = page.locator('.reported [data-kind]');
    expect(await lines.filter({ hasText: 'unknown effects: e1 (' }).count()).toBe(1);
    expect(await lines.filter({ hasText: 'rebuilt derived context: the index of words' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.locator('.reported').waitFor({ state: 'hidden' });
  });

  test('a question is answered with a button, and seen as answered', async () => {
    await serve();
    const { session } = await outlast.start({ message: 'pay', persist: true });
    await page.goto(`${listening.url}/#/${session}`);
    const question = page.locator('[data-decision="d1"]');
    await page.locator('tr[data-effect="e1"]').getByText('unknown').waitFor();
    await page.locator('.session[data-phase="awaiting_decision"]').waitFor();
    await question.getByLabel('Words').fill('the bank has it');
    await question.getByRole('button', { name: 'done', exact: true }).click();
    await question.getByText('done: the bank has it').waitFor();
    expect(await question.getByRole('button').count()).toBe(0);
    await page.locator('tr[data-effect="e1"]').getByText('known by person').waitFor();
  });

  test('an approval is decided with a button; one that is withdrawn has none any more', async () => {
    await serve();
    const { session } = await outlast.start({ message: 'refund', persist: true });
    await page.goto(`${listening.url}/#/${session}`);
    const first = page.locator('[data-decision="d1"]');
    await first.getByText('Send e1? refund to POST test://shop with {"cents":700}.').waitFor();
    await first.getByText(/the rule "default:blind" asks; open until/).waitFor();
    expect(await first.getByRole('button').allTextContents()).toEqual(['approve', 'reject']);
    await first.getByRole('button', { name: 'approve' }).click();
    await first.getByText('approve — local').waitFor();
    await page.locator('tr[data-effect="e1"]').getByText('done').waitFor();

    await outlast.send(session, 'refund');
    const second = page.locator('[data-decision="d2"]');
    await second.getByRole('button', { name: 'reject' }).waitFor();
    await outlast.interrupt(session);
    await second.getByText('needs no answer any more').waitFor();
    expect(await second.getByRole('button').count()).toBe(0);
  });

  test('the choices of a question are its buttons; one without takes words', async () => {
    await serve();
    const { session } = await outlast.start({ message: 'choose <b>blue</b>|red', persist: true });
    await page.goto(`${listening.url}/#/${session}`);
    const question = page.locator('[data-decision="d1"]');
    await question.getByRole('button', { name: 'red' }).waitFor();
    expect(await question.getByRole('button').allTextContents()).toEqual(['<b>blue</b>', 'red']);
    expect(await question.getByLabel('Words').count()).toBe(0);
    await question.getByRole('button', { name: 'blue' }).click();
    await question.getByText('answer: <b>blue</b> — local').waitFor();
    expect(await question.getByRole('button').count()).toBe(0);

    await outlast.send(session, 'wonder');
    const open = page.locator('[data-decision="d2"]');
    await open.getByRole('button', { name: 'answer' }).waitFor();
    expect(await open.getByLabel('Words').getAttribute('placeholder')).toBe('your answer');
  });

  test('a question of a child is answered on the page of its parent, which shows its children', async () => {
    await serve();
    const { session } = await outlast.start({ message: 'delegate choose ant|bee', persist: true });
    await page.goto(`${listening.url}/#/${session}`);
    await page.getByRole('button', { name: 'bee' }).click();
    await page.locator('.question.closed').waitFor();
    await page.locator('.of-child').waitFor();
    await page.locator('.session[data-phase="awaiting_input"]').waitFor();
    const [child] = (await outlast.inspect(session)).children;
    await page.locator(`.beside [data-child="${child?.id}"]`).getByText('turn 1: surfaced').waitFor();
    await page.locator(`.sessions li.child[data-session="${child?.id}"]`).waitFor();
    await page.locator('.beside .children a').click();
    await page.locator('.beside').getByText('child of').waitFor();
  });

  test('the inbox gathers what awaits a person from all sessions, and is answered in place', async () => {
    await serve();
    for (const message of ['pay', 'refund', 'choose red|blue']) {
      const { session } = await outlast.start({ message, persist: true });
      expect(await outlast.rest(session)).toBe('awaiting_decision');
    }
    await page.goto(listening.url);
    await page.locator('#inbox', { hasText: 'Inbox (3)' }).click();
    const cards = page.locator('.inbox .question');
    await cards.filter({ hasText: 'the line was cut' }).getByRole('button', { name: 'not done' }).waitFor();
    await cards.filter({ hasText: 'it was never sent' }).getByRole('button', { name: 'approve' }).click();
    await page.locator('#inbox', { hasText: 'Inbox (2)' }).waitFor();
    await cards.getByRole('button', { name: 'red' }).click();
    await page.locator('#inbox', { hasText: 'Inbox (1)' }).waitFor();
    expect(await cards.count()).toBe(1);
  });

  test('words that are being written in the inbox stay when something else comes in', async () => {
    await serve();
    const ask = async (message: string) => {
      const { session } = await outlast.start({ message, persist: true });
      expect(await outlast.rest(session)).toBe('awaiting_decision');
    };
    await ask('pay');
    await page.goto(`${listening.url}/#/inbox`);
    const words = page.getByLabel('Words for d1').first();
    await words.fill('I have looked');
    await ask('choose red|blue');
    await page.locator('#inbox', { hasText: 'Inbox (2)' }).waitFor();
    await page.locator('.inbox .question').nth(1).waitFor();
    expect(await page.locator('.inbox input:focus').inputValue()).toBe('I have looked');
  });

  test('text is seen while it is written, and once it stands only once', async () => {
    await serve();
    const { session } = await outlast.start({ message: 'say hello', persist: true });
    await page.goto(`${listening.url}/#/${session}`);
    await page.locator('.response').getByText('hello').waitFor();
    await outlast.send(session, 'mumble well, let me see');
    await page.locator('.whisper').getByText('well, let me see').waitFor();
    outlast.release();
    await page.locator('.response').getByText('well, let me see').waitFor();
    expect(await page.locator('.whisper').count()).toBe(0);
  });

  test('text of models is text: nothing of it becomes part of the page', async () => {
    await serve();
    const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const { session } = await outlast.start({ message: `say ${evil}`, persist: true, title: `<b>${evil}` });
    await page.goto(`${listening.url}/#/${session}`);
    const response = page.locator('.response .said');
    await response.waitFor();
    expect(await response.textContent()).toBe(evil);
    expect(await page.locator('main img, main script, .sessions b').count()).toBe(0);
    expect(await page.title()).toBe('Outlast');
  });

  test('a cell of Python shows its rows as a table and its plots as images; what is no PNG is not shown', async () => {
    await serve();
    const { session } = await outlast.start({ message: 'plot may', persist: true });
    await page.goto(`${listening.url}/#/${session}`);
    const cell = page.locator('.cell').first();
    await cell.locator('summary').getByText('Draws may').waitFor();
    const image = cell.getByRole('img', { name: 'Plot plots/may.png' });
    await image.waitFor();
    expect(await image.evaluate((img: { naturalWidth: number }) => img.naturalWidth)).toBe(1);
    expect(await image.getAttribute('src')).toMatch(/^data:image\/png;base64,iVBOR/);
    expect(await cell.locator('td').allTextContents()).toEqual(['0', '<i>May</i>']);
    await cell.getByText('40 rows × 1 columns, the first 1').waitFor();

    await outlast.send(session, 'plot evil');
    const second = page.locator('.cell').nth(1);
    await second.getByText('It is not a PNG, and is not shown.').waitFor();
    expect(await second.locator('img, svg, script').count()).toBe(0);
    expect(await page.title()).toBe('Outlast');
  });

  test('the ledger names tool and target; a list of files that is open stays open, and up to date', async () => {
    await serve();
    const { session } = await outlast.start({ message: 'plot may', persist: true });
    await page.goto(`${listening.url}/#/${session}`);
    const beside = page.locator('.beside');
    await beside.locator('tr[data-effect="e1"] .tool').getByText('python', { exact: true }).waitFor();
    await beside.locator('tr[data-effect="e1"] .target').getByText('sandbox:python').waitFor();
    await beside.getByRole('button', { name: 'List them' }).click();
    await beside.locator('.files').getByText('plots/may.png').waitFor();
    await outlast.send(session, 'plot june');
    await beside.locator('tr[data-effect="e2"]').getByText('done').waitFor();
    await beside.locator('.files').getByText('plots/june.png').waitFor();
    await beside.getByRole('button', { name: 'Hide them' }).click();
    await outlast.send(session, 'say more');
    await page.locator('.response').getByText('more').waitFor();
    expect(await beside.locator('.files').isVisible()).toBe(false);
  });

  test('a fork opens, shows where it comes from, and what was open there as left', async () => {
    await serve();
    const { session } = await outlast.start({ message: 'pay', persist: true });
    await outlast.rest(session);
    await page.goto(`${listening.url}/#/${session}`);
    await page.locator('.question[data-decision="d1"] button').first().waitFor();
    await page.getByRole('button', { name: 'fork' }).click();
    await page.locator('.beside').getByRole('link', { name: session }).waitFor();
    await page.locator('.note').getByText(`A fork of ${session}`).waitFor();
    await page.locator('.question.closed').getByText('left with the original').waitFor();
    await page.locator('.beside .ledger tr[data-effect="e1"]').getByText('left').waitFor();
    expect(await page.locator('.sessions li').count()).toBe(2);
    expect((await outlast.inspect(session)).phase).toBe('awaiting_decision');
  });

  test('a server with tokens is asked with one', async () => {
    await serve('ann:ann-secret');
    await page.goto(listening.url);
    await page.getByLabel('Token').fill('ann-secret');
    await page.getByRole('button', { name: 'Use it' }).click();
    await page.getByLabel('What to do').fill('say hello');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.locator('.response').getByText('hello').waitFor();
  });

  test('a long log begins near its end, and shows what was before when asked', async () => {
    await serve();
    const { session } = await outlast.start({ message: 'say first', persist: true });
    await outlast.rest(session);
    for (let n = 1; n < 110; n++) {
      await outlast.send(session, `say number ${n}`);
      await outlast.rest(session);
    }
    await page.goto(`${listening.url}/#/${session}`);
    await page.getByText('number 109', { exact: true }).waitFor();
    expect(await page.getByText('first', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: /Show the \d+ events before/ }).click();
    await page.getByText('first', { exact: true }).waitFor();
    expect(await page.locator('.response').count()).toBe(110);
  });
});
