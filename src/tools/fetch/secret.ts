/**
 * Handles stand for secrets wherever a log, a guest or a model could see them.
 *
 * S1  A handle holds its secret, sealed: `sealed:v1:<base64url>`. Nothing else is kept, so it outlives the process.
 * S2  It opens for the origin that the secret came from, and for no other: the origin is bound to the seal.
 * S3  What cannot be opened is never sent as it stands: the request is refused.
 */

import type { Sealer } from '../../lib/seal.ts';
import { wellFormed } from '../../lib/well-formed.ts';

export interface Secret {
  readonly text: string;
  readonly handle: string;
}

/** The seals of one origin. */
export interface Handles {
  seal(text: string): Secret;
  /** Every handle in `text` replaced by what `written` makes of its secret; throws `ForeignHandle` (S3). */
  fill(text: string, written: (secret: string) => string): Filled;
}

export interface Filled {
  readonly text: string;
  readonly opened: readonly Secret[];
}

/** A handle of another origin, or one that nobody here has sealed. */
export class ForeignHandle extends Error {
  override readonly name = 'ForeignHandle';

  constructor(origin: string) {
    super(
      `The request holds a sealed secret that was not given by ${origin}; it goes back to its own origin only.`,
    );
  }
}

/** `:` is escaped in queries and forms. */
const HANDLE = /sealed(?::|%3a)v1(?::|%3a)([A-Za-z0-9_-]*)/gi;

export const holdsHandle = (text: string): boolean => text.search(HANDLE) >= 0;

export function handlesFor(origin: string, sealer: Pick<Sealer, 'seal' | 'open'>): Handles {
  const about = `secret:${origin}`;

  function seal(raw: string): Secret {
    const text = wellFormed(raw);
    const sealed = Buffer.from(sealer.seal(Buffer.from(text), about));
    return { text, handle: `sealed:v1:${sealed.toString('base64url')}` };
  }

  function fill(text: string, written: (secret: string) => string): Filled {
    const opened: Secret[] = [];
    const filled = text.replace(HANDLE, (_, sealed: string) => {
      const secret = { text: open(sealed), handle: `sealed:v1:${sealed}` };
      opened.push(secret);
      return written(secret.text);
    });
    return { text: filled, opened };
  }

  function open(sealed: string): string {
    try {
      return Buffer.from(sealer.open(Buffer.from(sealed, 'base64url'), about)).toString();
    } catch {
      throw new ForeignHandle(origin); // the cause could quote what was sealed
    }
  }

  return { seal, fill };
}
