import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { handClock } from '../sample.ts';
import { storeSuite } from '../suite.ts';
import { sqliteStore } from './open.ts';

storeSuite({
  name: 'sqlite',
  async open() {
    const dir = mkdtempSync(join(tmpdir(), 'outlast-'));
    const clock = handClock();
    let store = await sqliteStore({ dir, clock });
    return {
      store,
      advance: clock.advance,
      async reopen() {
        await store.close();
        store = await sqliteStore({ dir, clock });
        return store;
      },
      async dispose() {
        await store.close();
        rmSync(dir, { recursive: true });
      },
    };
  },
});
