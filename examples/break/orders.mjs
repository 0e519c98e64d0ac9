/**
 * One's own tool under `outlast break --with examples/break/orders.mjs`.
 *
 * The service here is a stand-in in this file: it takes orders and can be asked for a reference. In your file it is
 * your own service, or its test instance, and `books` reads what only it knows: its database, its export, its log.
 */

import { createServer } from 'node:http';
import { defineTool } from 'outlast';

const rows = [];
const url = await service();

const order = defineTool({
  name: 'order',
  description: 'Orders an article.',
  input: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] },
  // What the service can do when an answer is missing. Declare less than it can, never more.
  capability: { kind: 'queryable', lateMs: 500 },
  async run({ article }, { reference, signal }) {
    const body = JSON.stringify({ article, reference });
    return (await fetch(`${url}/orders`, { method: 'POST', body, signal })).json();
  },
  async find({ article }, { reference, signal }) {
    const { found } = await (await fetch(`${url}/orders?reference=${reference}`, { signal })).json();
    return found ? { status: 'done', result: { article } } : { status: 'absent' };
  },
});

export default {
  name: 'orders',
  /** No order arrives later than this after it was sent. */
  lateMs: 500,
  open(run) {
    const article = `${run}-lamp`;
    return {
      tools: [order],
      calls: [{ tool: 'order', args: { article }, what: article }],
      books: () => rows.filter((row) => row.what === article),
    };
  },
};

/** The stand-in. */
async function service() {
  const server = createServer(async (request, response) => {
    const asked = new URL(request.url, 'http://orders').searchParams.get('reference');
    if (request.method === 'GET') {
      return response.end(JSON.stringify({ found: rows.some(({ reference }) => reference === asked) }));
    }
    const { article, reference } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    rows.push({ what: article, reference, at: Date.now() });
    response.end(JSON.stringify({ article }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}
