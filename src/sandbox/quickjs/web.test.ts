import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Notebook, openNotebook } from '../notebook.ts';
import { quickjsSandbox } from './sandbox.ts';
import { memoryShelf } from './shelf.ts';

let book: Notebook;
beforeAll(async () => {
  book = await openNotebook(quickjsSandbox({ mode: 'inline', shelf: memoryShelf() }));
});
afterAll(() => book.close());

/** What an expression gives in the guest, as JSON. */
async function inGuest<T>(expression: string): Promise<T> {
  const { output, ended } = await book.run(`console.log(JSON.stringify(${expression}))`);
  expect(ended[0]?.end.status).toBe('done');
  return JSON.parse(output) as T;
}

describe('URL is that of Node', () => {
  const URLS: [string, string?][] = [
    ['https://user:pa%20ss@Example.COM:443/a/./b/../c?q=a b&r=%41#x y'],
    ['http://example.com:8080'],
    ['HTTP:\\\\example.com\\a\\b'],
    ['  https://example.com/\t\n '],
    ['https://example.com/%2e%2E/x/%2e'],
    ['https://example.com/ü?ü#ü'],
    ['https://example.com/a?b=\'"<>`{}|^'],
    ['https://192.168.0.1/'],
    ['https://0x7f.1/'],
    ['https://[::1]:3000/x'],
    ['https://EXAMPLE.com:99999/'],
    ['https://exa mple.com/'],
    ['https://'],
    ['//x/y'],
    ['a/b'],
    [''],
    ['mailto:a@b.example?subject=x y'],
    ['data:text/plain,hello world'],
    ['file:///a/../b'],
    ['foo://bar/baz?q'],
    ['../x?y#z', 'https://example.com/a/b/c?d#e'],
    ['?only', 'https://example.com/a/b?c#d'],
    ['#only', 'https://example.com/a/b?c#d'],
    ['', 'https://example.com/a/b?c#d'],
    ['/root', 'https://example.com/a/b?c#d'],
    ['//other.example/p', 'https://example.com/a'],
    ['x/../../y/', 'https://example.com/a/b/c'],
    ['https:relative', 'https://example.com/a/b'],
    ['http:absolute.example', 'https://example.com/a/b'],
    ['x', 'mailto:a@b'],
    ['./a:b', 'https://example.com/'],
  ];
  const MEMBERS = [
    'href',
    'origin',
    'protocol',
    'username',
    'password',
    'host',
    'hostname',
    'port',
    'pathname',
    'search',
    'hash',
  ] as const;
  const parts = (url: string, base?: string) => {
    try {
      const parsed = new URL(url, base);
      return MEMBERS.map((member) => parsed[member]);
    } catch {
      return 'Invalid URL';
    }
  };
  for (const [url, base] of URLS)
    it(`${JSON.stringify(url)}${base ? ` on ${base}` : ''}`, async () => {
      const args = [url, base].filter((text) => text !== undefined).map((text) => JSON.stringify(text));
      const given = await inGuest(
        `(() => { try { const u = new URL(${args.join(', ')}); return ${JSON.stringify(MEMBERS)}.map((m) => u[m]) } catch { return "Invalid URL" } })()`,
      );
      expect(given).toEqual(parts(url, base));
    });

  it('refuses international names instead of mangling them', async () => {
    expect(await inGuest('URL.canParse("https://münchen.example/")')).toBe(false);
  });

  it('follows its searchParams, and they follow it', async () => {
    const program = `(() => { const u = new URL('https://e.example/?a=1&b=2&a=3'); const p = u.searchParams;
      p.append('c', 'x y&z'); p.set('a', '9'); p.delete('b'); const one = u.href; u.search = '?k=v+w'; const two = [...p]; u.searchParams.sort();
      return [one, two, u.href, p === u.searchParams, new URLSearchParams({ q: 'é', r: '1' }).toString(), [...new URLSearchParams('a=b&c')], new URLSearchParams([['x', '1']]).get('x')] })()`;
    // biome-ignore lint/security/noGlobalEval: the same program, in Node.
    expect(await inGuest(program)).toEqual(JSON.parse(JSON.stringify(eval(program))));
  });
});

describe('text coding is that of Node', () => {
  it('for every kind of character, and for bytes that are none', async () => {
    const text = 'aé€😀\u0000\u07ff\uffff';
    expect(await inGuest(`[...new TextEncoder().encode(${JSON.stringify(text)})]`)).toEqual([
      ...new TextEncoder().encode(text),
    ]);
    expect(await inGuest(`[...new TextEncoder().encode("\\ud800")]`)).toEqual([239, 191, 189]);
    const bytes = [
      0xef, 0xbb, 0xbf, 0x61, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xc0, 0xaf, 0xe2, 0x82, 0x41, 0xed,
      0xa0, 0x80, 0xff, 0xf4, 0x90, 0x80, 0x80, 0xc3,
    ];
    expect(await inGuest(`new TextDecoder().decode(new Uint8Array(${JSON.stringify(bytes)}))`)).toBe(
      new TextDecoder().decode(new Uint8Array(bytes)),
    );
    expect(
      await inGuest(
        '(() => { try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name } })()',
      ),
    ).toBe('TypeError');
  });
});

describe('structuredClone', () => {
  it('copies what can be copied, once, with its cycles', async () => {
    const program = `(() => { const shared = { s: 1 }; const from = { d: new Date(5), m: new Map([[shared, new Set([shared])]]), shared, re: /a/g, u: undefined, big: 10n, list: [1, , 3], bytes: new Uint8Array([1, 2]), err: new RangeError('x') };
      from.self = from; const to = structuredClone(from); const [[key, set]] = to.m;
      return [to !== from, to.self === to, key === to.shared, [...set][0] === key, key !== shared, to.d.getTime(), to.re.flags, 'u' in to, typeof to.big, to.list.length, 1 in to.list, [...to.bytes], to.err.name, to.err.message] })()`;
    // biome-ignore lint/security/noGlobalEval: the same program, in Node.
    expect(await inGuest(program)).toEqual(eval(program));
  });
  it('refuses the rest', async () => {
    for (const value of ['() => 1', 'Symbol("s")', '{ a: [() => 1] }', 'new WeakMap()', 'Promise.resolve()'])
      expect(
        await inGuest(`(() => { try { structuredClone(${value}) } catch (e) { return e.name } })()`),
      ).toBe('DataCloneError');
  });
});

describe('the rest of the surface', () => {
  it('Headers are those of Node', async () => {
    const program = `(() => { const h = new Headers({ 'X-B': '1', a: '2' }); h.append('x-b', '3'); h.set('C', 4); h.delete('a'); return [[...h], h.get('X-b'), h.get('none'), h.has('c')] })()`;
    // biome-ignore lint/security/noGlobalEval: the same program, in Node.
    expect(await inGuest(program)).toEqual(eval(program));
  });

  it('randomUUID has the form of version 4 and is drawn from the heap’s own randomness', async () => {
    const [a, b] = await inGuest<[string, string]>('[crypto.randomUUID(), crypto.randomUUID()]');
    expect(a).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(a).not.toBe(b);
  });

  it('time is that of the entry, in UTC, and goes on', async () => {
    const { journal } = book;
    const [now, offset, text, first, second] = await inGuest<[number, number, string, number, number]>(
      '[Date.now(), new Date().getTimezoneOffset(), new Date(2026, 0, 1).toISOString(), performance.now(), performance.now()]',
    );
    const last = journal.at(-1);
    expect(now).toBe(last?.kind === 'apply' ? last.input.at : 0);
    expect([offset, text]).toEqual([0, '2026-01-01T00:00:00.000Z']);
    expect(second).toBeGreaterThan(first);
  });

  it('fetch refuses what it cannot send', async () => {
    for (const call of [
      'fetch("nowhere")',
      'fetch("https://a.example", { method: "POST", body: { a: 1 } })',
    ]) {
      const { ended, calls } = await book.run(`await ${call}`);
      expect(calls).toEqual([]);
      expect(ended[0]?.end).toMatchObject({ status: 'failed', error: expect.stringMatching(/^TypeError/) });
    }
  });

  it('an interval goes on until it is cleared', async () => {
    await book.run(
      'let ticks = 0; const every = setInterval(() => { if (++ticks === 2) clearInterval(every); if (ticks === 1) throw new Error("tick") }, 10)',
    );
    const call = () => Math.max(...book.open.keys());
    const { output, calls } = await book.answer(call(), null);
    expect(output).toMatch(/^Uncaught in a timer: Error: tick/);
    expect(calls).toHaveLength(1);
    expect((await book.answer(call(), null)).calls).toEqual([]);
    expect(await book.value('ticks')).toBe('2');
  });
});
