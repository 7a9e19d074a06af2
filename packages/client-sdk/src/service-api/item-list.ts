/** Paginated lists as async iterables. */
import { SignetError } from "../errors.ts";

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * In the order of creation. Every iteration starts over and requests a page when the previous one is used up.
 *
 * @example
 * for await (const client of management.clients.list()) console.log(client.name);
 */
export interface ItemList<Item> extends AsyncIterable<Item> {
  /** One page, for user interfaces with pagination. */
  page(cursor?: string): Promise<Page<Item>>;
  /** Every page in turn. */
  pages(): AsyncIterable<Page<Item>>;
  /** All items at once, for lists known to be short. */
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
      // Guards against an endless loop caused by a faulty service.
      if (seen.has(nextCursor))
        throw new SignetError("provider_answer", "The service returned the same page again.");
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
