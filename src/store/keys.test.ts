import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSeal } from '../lib/seal.ts';
import { parseKey, randomSealKey, sealKey } from './keys.ts';

describe('keys', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'outlast-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const raw = Buffer.from(randomSealKey());

  it('takes 32 bytes as hexadecimal or base64', () => {
    for (const form of ['hex', 'base64', 'base64url'] as const) {
      expect(Buffer.from(parseKey(` ${raw.toString(form)}\n`))).toEqual(raw);
    }
  });

  it('stretches a passphrase to the same key on every machine', () => {
    const key = parseKey('correct horse battery staple');
    expect(Buffer.from(key).toString('hex')).toBe(
      'f45e140b933dc68f9894b50c9deb17126f06a55e62fff63c362feacf3034ecfa',
    );
    expect(parseKey('correct horse battery stapl3')).not.toEqual(key);
  });

  it('refuses a passphrase that protects nothing', () => {
    expect(() => parseKey('secret')).toThrow('too short');
  });

  it('J1 leaves no key on disk when the environment has one', async () => {
    expect(Buffer.from(await sealKey(dir, { OUTLAST_KEY: raw.toString('hex') }))).toEqual(raw);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('J2 makes a key that only its user can read, once', async () => {
    const key = await sealKey(dir, {});
    expect(await sealKey(dir, {})).toEqual(key);
    expect(statSync(join(dir, 'keys')).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, 'keys/seal.key')).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(dir, 'keys'))).toEqual(['seal.key']);
  });

  it('J3 does not replace a key that it cannot read', async () => {
    mkdirSync(join(dir, 'keys'));
    writeFileSync(join(dir, 'keys/seal.key'), 'half a ke');
    await expect(sealKey(dir, {})).rejects.toMatchObject({ code: 'store.failed' });
    expect(readFileSync(join(dir, 'keys/seal.key'), 'utf8')).toBe('half a ke');
  });

  it('says which key is wrong', async () => {
    const box = openSeal(await sealKey(dir, {})).seal(new Uint8Array(3), 'a');
    const other = openSeal(await sealKey(dir, { OUTLAST_KEY: 'another passphrase, long enough' }));
    expect(() => other.open(box, 'a')).toThrow('sealed with another key');
  });
});
