/**
 * Challenges, grants and tokens: strings that name an account and cannot be guessed.
 *
 * Owns how they are made and checked. The service keeps no list of them: each is derived from the secret of its
 * data folder, so all stay valid over a restart of the service.
 *
 * T1. Nobody without the secret can make one. A sealed string of one kind is not accepted as another.
 */
import { createHmac } from 'node:crypto';
import { same } from '../secret.ts';

export type SealKind = 'challenge' | 'grant' | 'token';

/** `serial` is the number of the books row that began the authentication. */
export interface Sealed {
  readonly account: string;
  readonly serial: number;
}

export function seal(secret: string, kind: SealKind, { account, serial }: Sealed): string {
  const text = `${kind}.${account}.${serial}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('hex')}`;
}

export function unseal(secret: string, kind: SealKind, text: string): Sealed | undefined {
  const [, account = '', serial = ''] = text.split('.');
  const sealed = { account, serial: Number(serial) };
  return same(seal(secret, kind, sealed), text) ? sealed : undefined;
}
