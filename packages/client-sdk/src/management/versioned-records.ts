/** Records of the management API: read with their version, and replaced only if nobody was faster. */
import type { CallOptions, ItemList, ListOptions, UntypedClient } from "../service-api/typed-client.ts";
import {
  type DeleteOptions,
  ifMatch,
  type RepeatOptions,
  repeatable,
  updated,
  type Versioned,
  versioned,
} from "../service-api/versions.ts";

/** A record as it was read, with changes: null removes a member, and read-only members are ignored. */
export type Replacement<Body> = { readonly [Member in keyof Body]: Body[Member] | null } & {
  readonly etag?: string | undefined;
};

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
    update: (id, change, options) =>
      updated(
        () => get(id, options),
        // The version that was read, whatever `change` returned.
        async (current) => replace(id, { ...(await change(current)), etag: current.etag }, options),
      ),
    delete: async (id, options = {}) => {
      await send(`DELETE ${record}`, { path: { id }, headers: ifMatch(options.etag) }, options);
    },
  };
}
