import { expect, it } from 'vitest';
import { readable } from './readable.ts';

it('opens JSON in text, keeps the lines of text, and leaves words alone', () => {
  const body = JSON.stringify({ to: 'ada', text: 'Hello\nAda', tags: ['a', { b: 1 }] });
  expect(readable({ url: 'http://x/', body, cents: 5, none: {} })).toEqual([
    'url: http://x/',
    'body:',
    '  to: ada',
    '  text:',
    '    Hello',
    '    Ada',
    '  tags:',
    '    - a',
    '    - b: 1',
    'cents: 5',
    'none:',
  ]);
  expect(readable({ body: '{"to":"ada"}', tags: '["a"]' })).toEqual(['body:', '  to: ada', 'tags:', '  - a']);
  expect(readable('{not json')).toEqual(['{not json']);
  expect(readable('12')).toEqual(['12']);
});
