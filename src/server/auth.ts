/**
 * Who asks: tokens of owners.
 *
 * A1  A token is compared in constant time against all that there are; which one was nearly right cannot be measured.
 * A2  No message shows a token.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { OutlastError } from '../core/error.ts';
import { type Owner, parseOwner } from '../core/ids.ts';

export interface Token {
  readonly owner: Owner;
  readonly digest: Uint8Array;
}

/** Who asks when nobody has to prove anything: one machine, one person. */
export const LOCAL = 'local' as Owner;

/** Reads `owner:token,owner:token`; an owner may have several. The empty text has none. */
export function parseTokens(text: string): readonly Token[] {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries.map((entry, index) => {
    const colon = entry.indexOf(':');
    const token = entry.slice(colon + 1);
    if (colon < 1 || token === '') {
      throw new OutlastError(
        'owner.invalid',
        `Entry ${index + 1} of the tokens is not of the form owner:token.`,
        {
          next: 'write OUTLAST_TOKENS=ann:SECRET,bob:OTHER',
        },
      );
    }
    return { owner: parseOwner(entry.slice(0, colon)), digest: digest(token) };
  });
}

/** The owner that an `Authorization` header proves; null when it proves none. */
export function authenticate(tokens: readonly Token[], header: string | undefined): Owner | null {
  const given = digest(/^Bearer +(\S+)$/i.exec(header ?? '')?.[1] ?? '');
  let owner: Owner | null = null;
  for (const token of tokens) {
    if (timingSafeEqual(token.digest, given)) owner = token.owner;
  }
  return owner;
}

export function unauthorized(): OutlastError {
  return new OutlastError(
    'owner.unauthorized',
    'This server wants a token, and this request carries none it knows.',
    {
      next: 'send it as "Authorization: Bearer TOKEN"; the command line takes OUTLAST_TOKEN',
    },
  );
}

function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
