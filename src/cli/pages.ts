/** What the server gives in pages, one after the other to the last. */

/** Of a page; the server gives no more at once. */
const MOST = 500;

interface Page {
  /** Where the next page begins; null at the end. */
  readonly after: string | null;
}

export async function* pages<Some extends Page>(
  read: (query: { limit: number; after?: string }) => Promise<Some>,
  limit = MOST,
): AsyncGenerator<Some, void, void> {
  let query: Parameters<typeof read>[0] = { limit: Math.min(limit, MOST) };
  for (;;) {
    const page = await read(query);
    yield page;
    if (page.after === null) return;
    query = { ...query, after: page.after };
  }
}
