/** Behind the outer wall: a port on the loopback of the session that leads to its way out. */

import { connect, createServer } from 'node:net';

/** Where programs inside find it, by the usual variables. */
export const PROXY_PORT = 3128;

export const proxyEnv = (port: number): Readonly<Record<string, string>> => {
  const url = `http://127.0.0.1:${port}`;
  const none = 'localhost,127.0.0.1,::1';
  return {
    ...{ HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: none },
    ...{ http_proxy: url, https_proxy: url, all_proxy: url, no_proxy: none },
  };
};

/** Holds the way out open, and leads to it. Resolves when it listens. */
export function relay(egress: string, hold: string): Promise<void> {
  const held = connect(hold);
  held.on('error', () => {});
  const server = createServer((near) => {
    const far = connect(egress);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far);
    far.pipe(near);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(PROXY_PORT, '127.0.0.1', resolve);
  });
}
