/** Lists that come in pages, read as if they were one. */
import { SignetError } from "../errors.ts";

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * In the order of creation. Each reading begins anew, and asks for a page when the one before is used up.
 *
 * @example
 * for await (const client of management.clients.list()) console.log(client.name);
 */
export interface ItemList<Item> extends AsyncIterable<Item> {
  /** One page, for a list that people turn the pages of. */
  page(cursor?: string): Promise<Page<Item>>;
  /** Page after page, to the end. */
  pages(): AsyncIterable<Page<Item>>;
  /** All of them at once: for lists that are known to be short. */
  toArray(): Promise<Item[]>;
}

export function itemList<Item>(load: (cursor: string | undefined) => Promise<Page<Item>>): ItemList<Item> {
  async function* pages() {
    let cursor: string | undefined;
    const seen = new Set<string>();
    for (;;) {
      const page = await load(cursor);
      yield page;
      const { nextCursor } = page;
      if (nextCursor === null) return;
      // Else a service at fault would keep the reader busy for ever.
      if (seen.has(nextCursor))
        throw new SignetError("provider_answer", "The service gives the same page again.");
      seen.add(nextCursor);
      cursor = nextCursor;
    }
  }
  async function* items() {
    for await (const page of pages()) yield* page.items;
  }
  return {
    page: (cursor) => load(cursor),
    pages,
    toArray: async () => {
      const all: Item[] = [];
      for await (const item of items()) all.push(item);
      return all;
    },
    [Symbol.asyncIterator]: items,
  };
}
