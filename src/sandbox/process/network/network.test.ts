import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { detectCage } from '../confine/detect.ts';
import { hasProgram } from '../limits.ts';
import { processesIn } from '../open.ts';
import type { ProcessBox, Processes } from '../port.ts';
import { alive, command, until } from '../suite-kit.ts';

const detected = await detectCage();
const missing = !detected.found ? detected.why.join('; ') : hasProgram('curl') ? null : 'curl is not here';

describe.skipIf(missing !== null)(
  `with hosts that may be reached${missing === null ? '' : ` (${missing})`}`,
  () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'outlast-network-'));
    const servers: Server[] = [];
    const never = new AbortController().signal;
    let processes: Processes;
    let box: ProcessBox;
    let ports: readonly number[] = [];

    beforeAll(async () => {
      execFileSync(process.execPath, [
        fileURLToPath(new URL('../../../../scripts/ensure.mjs', import.meta.url)),
      ]);
      for (const name of ['listed', 'other']) {
        const server = createServer((request, answer) => {
          answer.end(`${name} ${request.method} ${request.url} ${request.headers.host}`);
        });
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        servers.push(server);
      }
      ports = servers.map((server) => (server.address() as AddressInfo).port);
      if (!detected.found) return;
      mkdirSync(join(dataDir, 'workspace'));
      const options = {
        dataDir,
        network: [`127.0.0.1:${ports[0]}`],
        isHeld: async () => true,
        report: () => {},
      };
      processes = processesIn(detected.spec, null, options);
      box = await processes.open('s-network', 1, join(dataDir, 'workspace'));
    }, 120_000);

    afterAll(async () => {
      await processes.end('s-network');
      await processes.close();
      for (const server of servers) server.close();
      rmSync(dataDir, { recursive: true, force: true });
    });

    const curl = async (args: string): Promise<string> => {
      const { output } = await box.run(command(`curl -sS --noproxy "" ${args} 2>&1`), never);
      return output.head + output.tail;
    };

    it('says so', () => {
      expect(processes.abilities.network).toBe('listed');
      expect(processes.says).toContain(`only 127.0.0.1:${ports[0]} to reach`);
    });

    it.each(['', '-p'])('reaches what is listed, and nothing else (curl %s)', async (tunnel) => {
      const listed = `http://127.0.0.1:${ports[0]}/path?q=1`;
      expect(await curl(`${tunnel} ${listed}`)).toBe(`listed GET /path?q=1 127.0.0.1:${ports[0]}`);
      const other = await curl(`${tunnel} http://127.0.0.1:${ports[1]}/`);
      expect(other).not.toContain('other GET');
      expect(other).toMatch(/403|not among the hosts/);
      expect(await curl(`${tunnel} http://localhost:${ports[0]}/`)).toMatch(/403|not among the hosts/);
    });

    it('has no way around the proxy', async () => {
      expect(await curl(`--noproxy "*" http://127.0.0.1:${ports[0]}/`)).toMatch(/refused|connect/i);
      expect(await curl('--noproxy "*" http://93.184.215.14/')).toMatch(/unreachable|connect/i);
    });

    it('ends its way out with the sandbox', async () => {
      const isEgress = () => alive(egressLine()).length;
      expect(isEgress()).toBe(1);
      await processes.end('s-network');
      await until(() => isEgress() === 0, 'the way out is gone');
      box = await processes.open('s-network', 2, join(dataDir, 'workspace'));
      expect(await curl(`http://127.0.0.1:${ports[0]}/`)).toContain('listed GET');
    });

    const egressLine = (): string => {
      const program = fileURLToPath(
        new URL('../../../../dist/sandbox/process/network/egress.js', import.meta.url),
      );
      const dir = join(dataDir, 'run', 's-network');
      return [
        process.execPath,
        program,
        join(dir, 'egress'),
        join(dir, 'hold'),
        `127.0.0.1:${ports[0]}`,
      ].join(' ');
    };
  },
);
