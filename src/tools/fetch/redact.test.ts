import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tokens } from './json-tokens.ts';
import { redact, widest } from './redact.ts';
import { sealFields } from './seal-fields.ts';
import type { Handles, Secret } from './secret.ts';

const secret = (text: string, n = 1): Secret => ({ text, handle: `sealed:v1:h${n}` });

/** Seals by counting; nothing here needs to open. */
function counting(): Handles {
  let n = 0;
  return {
    seal: (text) => secret(text, ++n),
    fill: () => ({ text: '', opened: [] }),
  };
}

test('E2: a secret goes in each form in which services repeat it', () => {
  const ugly = secret('a b/"c"=é');
  const forms = [
    'a b/"c"=é',
    'a b/\\"c\\"=é',
    'a%20b%2F%22c%22%3D%C3%A9',
    'a%20b%2f%22c%22%3d%c3%a9',
    'a+b%2F%22c%22%3D%C3%A9',
  ];
  for (const form of forms) expect(redact(`<${form}>`, [ugly])).toBe('<sealed:v1:h1>');
});

test('E1: escapes of JSON hide nothing, in values and in names', () => {
  const text = '{"a":"x\\u0074opsecret","\\u0074opsecret":1, "n": 12345678901234567890}';
  expect(redact(text, [secret('topsecret')])).toBe(
    '{"a":"xsealed:v1:h1","sealed:v1:h1":1, "n": 12345678901234567890}',
  );
});

test('a number is a secret only from end to end', () => {
  expect(redact('{"pin":4711,"cents":547112}', [secret('4711')])).toBe(
    '{"pin":"sealed:v1:h1","cents":547112}',
  );
});

test('E3: what is too short to be told is not searched for', () => {
  expect(redact('{"ok":true,"a":"abc"}', [secret('abc'), secret('')])).toBe('{"ok":true,"a":"abc"}');
});

test('the longest secret wins, and handles are left alone', () => {
  const secrets = [secret('token', 1), secret('token-of-a', 2), { text: 'aled', handle: 'sealed:v1:x' }];
  expect(redact('token-of-a token', secrets)).toBe('sealed:v1:h2 sealed:v1:h1');
});

test('a secret that begins before the cut goes whole', () => {
  const secrets = [secret('topsecret')];
  expect(redact('abc topsecret def', secrets, 7)).toBe('abc sealed:v1:h1');
  expect(redact('abc topsecret def', secrets, 4)).toBe('abc ');
  expect(widest([secret('é"')])).toBe('%C3%A9%22'.length);
});

test('F1: named fields are sealed at any depth, pointers where they point, with all that is below', () => {
  const text =
    '{ "token": "t-1", "a": [{"token":"t-2","keep":"k"}], "b": {"deep": ["x", 7, true, null, ""]}, "c": "x" }';
  const { text: sealed, secrets } = sealFields(text, ['token', '/b/deep'], counting());
  expect(sealed).toBe(
    '{ "token": "sealed:v1:h1", "a": [{"token":"sealed:v1:h2","keep":"k"}], "b": {"deep": ["sealed:v1:h3", "sealed:v1:h4", true, null, ""]}, "c": "x" }',
  );
  expect(secrets.map(({ text }) => text)).toEqual(['t-1', 't-2', 'x', '7']);
});

test('F1: an escaped name is that name, a repeated one is sealed twice, one secret has one handle', () => {
  const text = '{"to\\u006ben":"same","token":"same","/":{"~":"s"}}';
  expect(sealFields(text, ['token', '/~1/~0'], counting()).text).toBe(
    '{"to\\u006ben":"sealed:v1:h1","token":"sealed:v1:h1","/":{"~":"sealed:v1:h2"}}',
  );
  expect(sealFields('"whole"', ['token'], counting()).text).toBe('"whole"');
});

test('F2, J1: every JSON text is walked to its end, and only secrets change', () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), fc.constantFrom(0, 2), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), undefined, indent);
      expect(sealFields(text, ['no such field'], counting()).text).toBe(text);
      const values: string[] = [];
      for (const { start, end, is, path } of tokens(text)) {
        if (is !== 'key') values.push(`${path.join('/')}=${text.slice(start, end)}`);
      }
      expect(values).toEqual(leaves(JSON.parse(text), []));
    }),
  );
});

function leaves(value: unknown, path: readonly string[]): string[] {
  if (typeof value !== 'object' || value === null) return [`${path.join('/')}=${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([key, member]) => leaves(member, [...path, key]));
}
