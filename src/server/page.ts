/**
 * The page at `/` and its parts: a few files, served from memory, that talk to the API like any other client.
 *
 * W1  Only the files of the list are served; no path of a request becomes a path on the disk.
 * W2  The policy allows no script, style or connection but our own, and nobody may frame the page.
 */

import { readFile } from 'node:fs/promises';

const FILES = {
  '/': ['index.html', 'text/html'],
  '/theme.css': ['theme.css', 'text/css'],
  '/session.css': ['session.css', 'text/css'],
  '/page.css': ['page.css', 'text/css'],
  '/transcript.css': ['transcript.css', 'text/css'],
  '/icon.svg': ['icon.svg', 'image/svg+xml'],
  '/page.js': ['page.js', 'text/javascript'],
  '/api.js': ['api.js', 'text/javascript'],
  '/dom.js': ['dom.js', 'text/javascript'],
  '/transcript.js': ['transcript.js', 'text/javascript'],
  '/question.js': ['question.js', 'text/javascript'],
  '/children.js': ['children.js', 'text/javascript'],
  '/result.js': ['result.js', 'text/javascript'],
  '/session.js': ['session.js', 'text/javascript'],
  '/inbox.js': ['inbox.js', 'text/javascript'],
  '/aside.js': ['aside.js', 'text/javascript'],
  '/report.js': ['report.js', 'text/javascript'],
  '/recall.js': ['recall.js', 'text/javascript'],
  '/recall.css': ['recall.css', 'text/css'],
} as const;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const folder = new URL('./page/', import.meta.url);

export const pagePaths = Object.keys(FILES) as readonly (keyof typeof FILES)[];

export async function pageFile(path: keyof typeof FILES): Promise<Response> {
  const [name, type] = FILES[path];
  const content = await readFile(new URL(name, folder), 'utf8');
  return new Response(content, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'no-cache',
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
    },
  });
}
