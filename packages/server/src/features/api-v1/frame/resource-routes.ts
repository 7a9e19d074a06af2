/**
 * The routes that every record of API v1 has in common (api-v1.md, "Every resource"): list, get, create, change, delete, acts.
 * Each registration states its whole path, what describes it in /openapi.json, and the one thing that differs.
 */
import type { Static, TObject, TProperties, TSchema } from "typebox";
import Type from "typebox";
import type { ApiScope } from "../../../core/scopes/api-scopes.ts";
import type { Database } from "../../../db/open.ts";
import { notFound } from "../../../http/api/api-error.ts";
import {
  type Answer,
  type ApiScope as Api,
  type ApiRequest,
  apiRoute,
  type Lenient,
  readRoute,
} from "../../../http/api/api-route.ts";
import { isUnchanged, requireTag } from "../../../http/api/concurrency.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { noParameters, strictObject } from "../../../http/api/schemas.ts";
import { type ApiCaller, apiAuthenticator } from "../access.ts";
import type { ListFields } from "../lists/list-fields.ts";
import {
  type ListPage,
  type ListRequest,
  listQuery,
  readListRequest,
  writeCursor,
} from "../lists/list-request.ts";
import { type ApiDeps, inTransaction } from "./api-deps.ts";
import type { Described, Writing } from "./described-operations.ts";
import { tagOf } from "./entity-tag.ts";
import { pathOf, scopeText } from "./operation-texts.ts";

/** A kind of record. `R` is a row of the core, `D` what its routes need. */
export interface ApiResource<R, D extends ApiDeps = ApiDeps> {
  readonly api: Api;
  readonly deps: D;
  readonly tag: string;
  /** As descriptions name one and several of them. */
  readonly one: string;
  readonly many: string;
  /** All are needed to read, or to change. */
  readonly reads: readonly ApiScope[];
  readonly writes: readonly ApiScope[];
  /** The record on the wire. */
  readonly schema: TSchema;
  record(row: R, deps: D): WireRecord | Promise<WireRecord>;
  /** Members that change without the record: its entity tag leaves them out. */
  readonly volatile?: readonly string[];
  /** What errors of the core mean here. */
  toAnswer?(error: unknown): never;
  /** The path parameter that names a record; `id` when left out. */
  readonly idParameter?: string;
  /** Who calls; any client or administrator of the organisation when left out. */
  readonly authenticator?: typeof apiAuthenticator;
}

export type WireRecord = Readonly<Record<string, unknown>> & { readonly id: string };

/** What a handler is given. */
export interface ApiCall {
  readonly caller: ApiCaller;
  /** Of the organisation whose records are asked for. */
  readonly orgId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly request: ApiRequest;
}

/** A call that names a record. */
export interface RecordCall<R> extends ApiCall {
  readonly id: string;
  /** Holds `If-Match` against the present record, which must be locked. @throws ApiError 412 */
  check(row: R): Promise<void>;
}

export interface Created<R> {
  readonly row: R;
  /** Members of this answer alone, e.g. a secret. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Those of `members` that are never sent again. */
  readonly shownOnce?: readonly string[];
  /** The record was there before, and has what was asked for: 200. */
  readonly isKnown?: boolean;
}

const credential = "access-token" as const;

const authenticatorOf = <R, D extends ApiDeps>(
  { authenticator = apiAuthenticator, deps }: ApiResource<R, D>,
  ...scopes: readonly ApiScope[]
) => authenticator(deps, ...scopes);

export function listRoute<R, D extends ApiDeps>(
  resource: ApiResource<R, D>,
  path: string,
  {
    fields,
    search = false,
    query: more = {},
    ...operation
  }: Described & {
    readonly fields: ListFields;
    readonly search?: boolean;
    readonly query?: TProperties;
  },
  read: (
    call: ApiCall & {
      readonly list: ListRequest;
      readonly query: Readonly<Record<string, string | undefined>>;
    },
  ) => Promise<ListPage<R>>,
): void {
  const { api, tag, many, schema, reads } = resource;
  const query = listQuery(fields, { search, more });
  apiRoute<ApiCaller, TSchema, undefined, Database>(api, {
    ...{ tag, credential, ...operation, method: "GET", path, query },
    // A filter and a search of signs that take twelve bytes each in an address.
    errors: [...(operation.errors ?? []), 431],
    description: scopeText(reads, operation.description),
    answers: { 200: { description: `A page of ${many}`, schema: listSchema(schema) } },
    authenticator: authenticatorOf(resource, ...reads),
    handler: async ({ caller, params, request, query: sent }) => {
      const given = sent as Readonly<Record<string, string | undefined>>;
      const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
      const orgId = caller.organisation.id;
      const list = readListRequest(named, fields, JSON.stringify([path, params, orgId]));
      const page = await read({ caller, orgId, params, request, list, query: named });
      return { status: 200, body: await pageBody(resource, list, page) };
    },
  });
}

async function pageBody<R, D extends ApiDeps>(
  { record, deps }: ApiResource<R, D>,
  { limit, tag }: ListRequest,
  { rows, placeOf, total }: ListPage<R>,
) {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: await Promise.all(shown.map((row) => record(row, deps))),
    nextCursor: rows.length > limit && last ? writeCursor(tag, placeOf(last)) : null,
    ...(total === undefined ? {} : { total }),
  };
}

const listSchema = (item: TSchema) =>
  Type.Object({
    items: Type.Array(item),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
    total: Type.Optional(Type.Integer({ description: "With `total=true`" })),
  });

/** @param find undefined when there is no such record */
export function getRoute<R, D extends ApiDeps>(
  resource: ApiResource<R, D>,
  path: string,
  operation: Described,
  find: (call: ApiCall & { readonly id: string }) => Promise<R | undefined>,
): void {
  const { api, deps, tag, one, schema, reads } = resource;
  readRoute<ApiCaller, typeof noParameters, Database>(api, {
    ...{ tag, credential, ...operation, path, query: noParameters },
    description: scopeText(reads, operation.description),
    answers: { 200: { description: `The ${one}`, schema }, 304: { description: "Unchanged" } },
    authenticator: authenticatorOf(resource, ...reads),
    handler: async ({ caller, params, request }) => {
      const call = { caller, params, request, orgId: caller.organisation.id };
      const row = await find({ ...call, id: idIn(resource, params) });
      if (row === undefined) throw notFound();
      const answer = await answerWith(resource, row, deps);
      const isKnown = isUnchanged(request, answer.headers.etag);
      return isKnown ? { status: 304, headers: answer.headers } : answer;
    },
  });
}

/** What takes long, e.g. a password's hash, and runs before the transaction. */
interface Preparing<B, P> {
  prepare?(call: ApiCall & { readonly body: B }): Promise<P>;
}

/** @param write runs in the transaction that also stores the answer for an `Idempotency-Key` */
export function createRoute<R, D extends ApiDeps, B extends TSchema, P = undefined>(
  resource: ApiResource<R, D>,
  path: string,
  {
    created = resource.schema,
    known,
    prepare,
    records = path,
    bodyOptional = false,
    ...operation
  }: Writing<B> &
    Preparing<Static<B>, P> & {
      readonly created?: TSchema;
      /** What a 200 means, for records that may be there already. */
      readonly known?: string;
      /** Below which path the new record is read; `path` when left out. */
      readonly records?: string;
      readonly bodyOptional?: boolean;
    },
  write: (
    inside: D,
    call: ApiCall & { readonly body: Static<B>; readonly prepared: P },
  ) => Promise<Created<R>>,
): void {
  const { api, deps, tag, one, writes } = resource;
  apiRoute<ApiCaller, typeof noParameters, TSchema, Database>(api, {
    ...{ tag, credential, ...operation, method: "POST", path, query: noParameters },
    ...{ bodyOptional, lenient: nullIsUnset, description: scopeText(writes, operation.description) },
    answers: {
      201: { description: `The new ${one}`, schema: created },
      ...(known === undefined ? {} : { 200: { description: known, schema: created } }),
    },
    authenticator: authenticatorOf(resource, ...writes),
    prepare: async (call) => prepare?.(bodyCall<B>(call)),
    handler: ({ within, prepared, ...sent }) =>
      answering(resource, within, async (inside) => {
        const call = { ...bodyCall<B>(sent), prepared: prepared as P };
        const { row, members, shownOnce, isKnown = false } = await write(inside, call);
        const { headers: tags, body: record } = await answerWith(resource, row, inside);
        const headers = { location: `${deps.baseUrl}${pathOf(records, call.params)}/${record.id}`, ...tags };
        const status = isKnown ? 200 : 201;
        return { status, headers, body: { ...record, ...members }, ...(shownOnce ? { shownOnce } : {}) };
      }),
  });
}

const nullIsUnset: Lenient = { readOnly: [] };

/**
 * JSON Merge Patch (RFC 7396), in either type.
 * @param change locks the record, checks it and changes it, in one transaction
 */
export function patchRoute<R, D extends ApiDeps, B extends TSchema, P = undefined>(
  resource: ApiResource<R, D>,
  path: string,
  { prepare, ...operation }: Writing<B> & Preparing<Static<B>, P>,
  change: (
    inside: D,
    call: RecordCall<R> & { readonly patch: Static<B>; readonly prepared: P },
  ) => Promise<R | undefined>,
): void {
  const { api, tag, one, schema, writes } = resource;
  apiRoute<ApiCaller, typeof noParameters, TSchema, Database>(api, {
    ...{ tag, credential, ...operation, method: "PATCH", path, query: noParameters },
    description: scopeText(
      writes,
      operation.description,
      "JSON Merge Patch (RFC 7396): null unsets a member.",
    ),
    answers: { 200: { description: `The changed ${one}`, schema } },
    authenticator: authenticatorOf(resource, ...writes),
    prepare: async (call) => prepare?.(bodyCall<B>(call)),
    handler: ({ body, within, prepared, ...call }) =>
      answering(resource, within, async (inside) => {
        const given = { patch: body as Static<B>, prepared: prepared as P };
        const row = await change(inside, { ...recordCall(resource, inside, call), ...given });
        if (row === undefined) throw notFound();
        return answerWith(resource, row, inside);
      }),
  });
}

/** @param remove locks the record, checks it and deletes it; false when there is none */
export function deleteRoute<R, D extends ApiDeps>(
  resource: ApiResource<R, D>,
  path: string,
  { done = "Deleted", ...operation }: Described & { readonly done?: string },
  remove: (inside: D, call: RecordCall<R>) => Promise<boolean>,
): void {
  const { api, tag, writes } = resource;
  apiRoute<ApiCaller, typeof noParameters, undefined, Database>(api, {
    ...{ tag, credential, ...operation, method: "DELETE", path, query: noParameters },
    description: scopeText(writes, operation.description),
    answers: { 204: { description: done } },
    authenticator: authenticatorOf(resource, ...writes),
    handler: ({ within, ...call }) =>
      answering(resource, within, async (inside) => {
        if (!(await remove(inside, recordCall(resource, inside, call)))) throw notFound();
        return { status: 204 };
      }),
  });
}

/** A deletion that comes later: 202 with the record as it is until then. @param schedule as of `patchRoute` */
export function laterDeleteRoute<R, D extends ApiDeps>(
  resource: ApiResource<R, D>,
  path: string,
  { done, ...operation }: Described & { readonly done: string },
  schedule: (inside: D, call: RecordCall<R>) => Promise<R | undefined>,
): void {
  const { api, tag, schema, writes } = resource;
  apiRoute<ApiCaller, typeof noParameters, undefined, Database>(api, {
    ...{ tag, credential, ...operation, method: "DELETE", path, query: noParameters },
    description: scopeText(writes, operation.description),
    answers: { 202: { description: done, schema } },
    authenticator: authenticatorOf(resource, ...writes),
    handler: ({ within, ...call }) =>
      answering(resource, within, async (inside) => {
        const row = await schedule(inside, recordCall(resource, inside, call));
        if (row === undefined) throw notFound();
        return { ...(await answerWith(resource, row, inside)), status: 202 };
      }),
  });
}

/** `POST /{id}/{act}`: what it asks for is so afterwards, however often it is sent. @param act as of `patchRoute` */
export function actRoute<
  R,
  D extends ApiDeps,
  B extends TObject = TObject<Record<never, never>>,
  P = undefined,
>(
  resource: ApiResource<R, D>,
  path: string,
  {
    body,
    prepare,
    ...operation
  }: Described & Preparing<Static<B>, P> & { readonly body?: B; readonly example?: unknown },
  act: (
    inside: D,
    call: RecordCall<R> & { readonly body: Static<B>; readonly prepared: P },
  ) => Promise<R | undefined>,
): void {
  const { api, tag, one, schema, writes } = resource;
  apiRoute<ApiCaller, typeof noParameters, TSchema, Database>(api, {
    ...{ tag, credential, ...operation, method: "POST", path, query: noParameters },
    ...{ bodyOptional: true, lenient: nullIsUnset },
    headers: { "If-Match": "the `ETag` of the record when it was read" },
    body: body ?? noMembers,
    errors: [...(operation.errors ?? []), 412],
    description: scopeText(writes, operation.description),
    answers: { 200: { description: `The ${one}`, schema } },
    authenticator: authenticatorOf(resource, ...writes),
    prepare: async (call) => prepare?.(bodyCall<B>(call)),
    handler: ({ body: sent, within, prepared, ...call }) =>
      answering(resource, within, async (inside) => {
        const given = { body: sent as Static<B>, prepared: prepared as P };
        const row = await act(inside, { ...recordCall(resource, inside, call), ...given });
        if (row === undefined) throw notFound();
        return answerWith(resource, row, inside);
      }),
  });
}

const noMembers = strictObject({});

function answering<R, D extends ApiDeps>(
  { deps, toAnswer }: ApiResource<R, D>,
  within: Database | undefined,
  work: (inside: D) => Promise<Answer>,
): Promise<Answer> {
  const running = inTransaction(deps, within, work);
  return toAnswer ? running.catch(toAnswer) : running;
}

type Received = Omit<ApiCall, "orgId">;

const bodyCall = <B extends TSchema>({
  body,
  ...call
}: Received & { readonly body: unknown }): ApiCall & { readonly body: Static<B> } => ({
  ...{ ...call, orgId: call.caller.organisation.id },
  body: body as Static<B>,
});

const recordCall = <R, D extends ApiDeps>(
  resource: ApiResource<R, D>,
  inside: D,
  { caller, params, request }: Received,
): RecordCall<R> => ({
  ...{ caller, params, request, orgId: caller.organisation.id, id: idIn(resource, params) },
  check: async (row) => {
    if (request.headers["if-match"] === undefined) return;
    requireTag(request, (await answerWith(resource, row, inside)).headers.etag);
  },
});

const idIn = <R, D extends ApiDeps>(
  { idParameter }: ApiResource<R, D>,
  params: Readonly<Record<string, string>>,
): string => idOf(params, idParameter);

async function answerWith<R, D extends ApiDeps>({ record, volatile }: ApiResource<R, D>, row: R, deps: D) {
  const body = await record(row, deps);
  return { status: 200, body, headers: { etag: tagOf(body, volatile) } } satisfies Answer;
}
