/** Records with optimistic locking: read with their version, and replaced only if nobody was faster (RFC 9110 §13.1.1). */
import { SignetError } from "../errors.ts";
import type { CallOptions, ItemList, ListOptions, UntypedClient } from "../service-api/typed-client.ts";

/** A record as it was read. */
export type Versioned<Item> = Item & {
  /** The version: if sent with a change, the change is rejected (`stale`) if the record has changed since. */
  readonly etag: string;
};

/** A record as it was read, with changes: null removes a member, and read-only members are ignored. */
export type Replacement<Body> = { readonly [Member in keyof Body]: Body[Member] | null } & {
  readonly etag?: string | undefined;
};

/** Options of a call that creates something. */
export interface RepeatOptions extends CallOptions {
  /** 1 to 255 characters; for a day, calls with the same key get the same response, without secrets. Default: unique. */
  readonly idempotencyKey?: string | undefined;
}

/** Options of a call that deletes. */
export interface DeleteOptions extends CallOptions {
  /** Deletes the record only if it is unchanged. */
  readonly etag?: string | undefined;
}

/** The methods all versioned records share. */
export interface VersionedRecords<Item, Created, New, Changed> {
  /** All records, oldest first. */
  list(options?: ListOptions): ItemList<Item>;
  /** Returns the record with its `etag` for `replace`. */
  get(id: string, options?: CallOptions): Promise<Versioned<Item>>;
  /** Creates a record. A secret in the response is shown only once, and null if that response was lost. */
  create(record: New, options?: RepeatOptions): Promise<Versioned<Created>>;
  /** Missing or null members get their defaults. With an `etag`, only if nobody changed the record since. */
  replace(id: string, record: Replacement<Changed>, options?: CallOptions): Promise<Versioned<Item>>;
  /** Reads, changes and replaces; starts over if somebody else was faster. */
  update(
    id: string,
    change: (record: Versioned<Item>) => Replacement<Changed> | Promise<Replacement<Changed>>,
    options?: CallOptions,
  ): Promise<Versioned<Item>>;
  /** Deletes the record permanently. */
  delete(id: string, options?: DeleteOptions): Promise<void>;
}

/** @param collection path, e.g. `/legacy/api/oauth/scopes` */
export function versionedRecords<Item, Created, New, Changed>(
  { send, list }: UntypedClient,
  collection: string,
): VersionedRecords<Item, Created, New, Changed> {
  const record = `${collection}/{id}`;
  const get = async (id: string, options?: CallOptions) =>
    versioned<Item>(await send(`GET ${record}`, { path: { id } }, options));
  const replace = async (id: string, { etag, ...body }: Replacement<Changed>, options?: CallOptions) =>
    versioned<Item>(await send(`PUT ${record}`, { path: { id }, body, headers: ifMatch(etag) }, options));
  return {
    list: (options) => list(`GET ${collection}`, {}, options) as ItemList<Item>,
    get,
    create: async (body, options = {}) =>
      versioned<Created>(await send(`POST ${collection}`, { body, ...repeatable(options) }, options)),
    replace,
    update: async (id, change, options) => {
      for (let attempt = 1; ; attempt++) {
        const current = await get(id, options);
        const changed = await change(current);
        try {
          // The version that was read, whatever `change` returned.
          return await replace(id, { ...changed, etag: current.etag }, options);
        } catch (error) {
          const isStale = error instanceof SignetError && error.problem?.code === "stale";
          if (!isStale || attempt === MAX_UPDATE_ATTEMPTS) throw error;
        }
      }
    },
    delete: async (id, options = {}) => {
      await send(`DELETE ${record}`, { path: { id }, headers: ifMatch(options.etag) }, options);
    },
  };
}

const MAX_UPDATE_ATTEMPTS = 5;

export const repeatable = ({ idempotencyKey = crypto.randomUUID() }: RepeatOptions) => ({
  headers: { "idempotency-key": idempotencyKey },
});

/** @throws SignetError `provider_answer` without an entity tag */
function versioned<Item>({ body, headers }: { body: unknown; headers: Headers }): Versioned<Item> {
  const etag = headers.get("etag");
  if (etag === null) throw new SignetError("provider_answer", "The service's response has no ETag.");
  // Compressing proxies such as nginx weaken the service's strong tags, and If-Match never matches a weak one.
  return { ...(body as Item), etag: etag.replace(/^W\//, "") };
}

const ifMatch = (etag: string | undefined): Record<string, string> =>
  etag === undefined ? {} : { "if-match": etag };
