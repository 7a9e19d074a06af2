/** The methods that records of API v1 share: a record has those whose operations the generated table has. */
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
import type {
  ApiAct,
  ApiAnswer,
  ApiBody,
  ApiCollection,
  ApiItem,
  ApiQuery,
  ApiRouteOf,
  OrganisationPath,
} from "./api-types.ts";

/** Records that can be listed and read. */
export interface ApiReads<Name extends ApiCollection<"GET", ""> & ApiCollection<"GET", "/{id}">> {
  /** All of them, or those that the query's `filter` (and `search`, where there is one) keeps, in the order of `sort`. */
  list(
    query?: ApiQuery<ApiRouteOf<"GET", Name>>,
    options?: ListOptions,
  ): ItemList<ApiItem<ApiRouteOf<"GET", Name>>>;
  /** Returns the record with its `etag`. */
  get(id: string, options?: CallOptions): Promise<Versioned<ApiAnswer<ApiRouteOf<"GET", `${Name}/{id}`>>>>;
}

/** Records that can be created. */
export interface ApiCreates<Name extends ApiCollection<"POST", "">> {
  /** A secret in the response is shown only once, and null if that response was lost. */
  create(
    record: ApiBody<ApiRouteOf<"POST", Name>>,
    options?: RepeatOptions,
  ): Promise<Versioned<ApiAnswer<ApiRouteOf<"POST", Name>>>>;
}

/** Options of a change. */
export interface ChangeOptions extends CallOptions {
  /** Changes the record only if it is unchanged. */
  readonly etag?: string | undefined;
}

/** Records that can be changed. */
export interface ApiChanges<Name extends ApiCollection<"PATCH", "/{id}">> {
  /** Changes the members that are given: null unsets one (RFC 7396). */
  change(
    id: string,
    patch: ApiBody<ApiRouteOf<"PATCH", `${Name}/{id}`>>,
    options?: ChangeOptions,
  ): Promise<Versioned<ApiAnswer<ApiRouteOf<"PATCH", `${Name}/{id}`>>>>;
  /** Reads, and changes what `change` returns; starts over if somebody else was faster. */
  update(
    id: string,
    change: (
      record: Versioned<ApiAnswer<ApiRouteOf<"PATCH", `${Name}/{id}`>>>,
    ) => ApiBody<ApiRouteOf<"PATCH", `${Name}/{id}`>> | Promise<ApiBody<ApiRouteOf<"PATCH", `${Name}/{id}`>>>,
    options?: CallOptions,
  ): Promise<Versioned<ApiAnswer<ApiRouteOf<"PATCH", `${Name}/{id}`>>>>;
}

/** Records that can be deleted. */
export interface ApiDeletes {
  /** Deletes the record permanently; a consent is revoked. */
  delete(id: string, options?: DeleteOptions): Promise<void>;
}

/** Options of an act. */
export interface ActOptions extends RepeatOptions, ChangeOptions {}

/** Records that something can be done with. */
export interface ApiActs<Name extends string> {
  /** Does an act such as `disable`, or adds what is below the record, such as one of its `secrets`. */
  act<Act extends ApiAct<Name>>(
    id: string,
    act: Act,
    body?: ApiBody<ApiRouteOf<"POST", `${Name}/{id}/${Act}`>>,
    options?: ActOptions,
  ): Promise<ApiAnswer<ApiRouteOf<"POST", `${Name}/{id}/${Act}`>>>;
}

interface AnyRecord {
  readonly [member: string]: unknown;
}

/** Every method: the types of the client say which of them a collection has. */
export function recordMethods({ send, list }: UntypedClient, name: string) {
  const collection: `${OrganisationPath}/${string}` = `/api/v1/organisations/{org}/${name}`;
  const record = `${collection}/{id}`;
  const get = async (id: string, options?: CallOptions) =>
    versioned<AnyRecord>(await send(`GET ${record}`, { path: { id } }, options));
  const change = async (id: string, body: unknown, { etag, ...options }: ChangeOptions = {}) =>
    versioned<AnyRecord>(
      await send(`PATCH ${record}`, { path: { id }, body, headers: ifMatch(etag) }, options),
    );
  return {
    list: (query: Readonly<Record<string, string | undefined>> = {}, options?: ListOptions) =>
      list(`GET ${collection}`, { query }, options),
    get,
    create: async (body: unknown, options: RepeatOptions = {}) =>
      versioned<AnyRecord>(await send(`POST ${collection}`, { body, ...repeatable(options) }, options)),
    change,
    update: (id: string, changed: (record: Versioned<AnyRecord>) => unknown, options?: CallOptions) =>
      updated(
        () => get(id, options),
        async (current) => change(id, await changed(current), { ...options, etag: current.etag }),
      ),
    delete: async (id: string, options: DeleteOptions = {}) => {
      await send(`DELETE ${record}`, { path: { id }, headers: ifMatch(options.etag) }, options);
    },
    act: async (id: string, act: string, body?: unknown, options: ActOptions = {}) => {
      const headers = { ...repeatable(options).headers, ...ifMatch(options.etag) };
      const sent = body === undefined ? {} : { body };
      return (await send(`POST ${record}/${act}`, { path: { id }, ...sent, headers }, options)).body;
    },
  };
}
