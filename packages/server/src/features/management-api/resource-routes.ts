/**
 * The routes that every record of the management API has in common: list, get, create, replace, delete. Each registration
 * states its whole path, what describes it in /openapi.json, and the one thing that differs: reading or writing the record.
 */
import type { FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import type { SystemAccountCaller } from "../../core/system-accounts/system-account.ts";
import type { Database } from "../../db/open.ts";
import { notFound } from "../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute, readRoute } from "../../http/api/api-route.ts";
import { etagOf } from "../../http/api/concurrency.ts";
import { type Page, pageOf, pageSchema, readPage } from "../../http/api/paging.ts";
import { idOf } from "../../http/api/path-id.ts";
import { by, inTransaction, type ManagementDeps } from "./management.ts";

const credential = "administrator" as const;

interface Versioned {
  readonly id: string;
  readonly version?: number;
}

export interface Resource<R extends Versioned> {
  readonly tag: string;
  /** As descriptions name one and several of them. */
  readonly one: string;
  readonly many: string;
  readonly schema: TSchema;
  /** The record on the wire. A record with a version is sent with its entity tag. */
  record(row: R): object;
  toAnswer(error: unknown): never;
  /** The path parameter that names a record; `id` when left out. */
  readonly idParameter?: string;
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
}

interface Writing<B extends TSchema> extends Described {
  readonly body: B;
  readonly example: unknown;
}

interface Creating<B extends TSchema> extends Writing<B> {
  /** The schema of the created record, where it has members that the record has not. */
  readonly created?: TSchema;
  readonly errors?: readonly number[];
}

export interface Created<R> {
  readonly row: R;
  /** Members of this response alone, e.g. a secret. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Those of `members` that are never sent again. */
  readonly shownOnce?: readonly string[];
}

/** Names a record, and who changes it for the audit log. */
export interface RecordKey {
  readonly orgId: string;
  readonly id: string;
  readonly actor: string;
  readonly address: string;
}

/** What a write is given besides the record's key. */
export interface WriteCall<B> {
  readonly caller: SystemAccountCaller;
  readonly request: FastifyRequest;
  readonly body: B;
}

/** A resource with what its routes are registered with. */
export interface ResourceRoutes<R extends Versioned> extends Resource<R> {
  readonly api: ApiScope;
  readonly deps: ManagementDeps;
}

/** @param read returns one row more than the limit when there are more */
export function listRoute<R extends Versioned, Q extends TSchema>(
  { api, deps, tag, many, schema, record }: ResourceRoutes<R>,
  path: string,
  operation: Described & { readonly query: Q },
  read: (orgId: string, page: Page, query: Static<Q>) => Promise<readonly R[]>,
): void {
  const answers = { 200: { description: `A page of ${many}`, schema: pageSchema(schema) } };
  apiRoute(api, {
    tag,
    credential,
    ...operation,
    method: "GET",
    path,
    answers,
    authenticator: deps.authenticator,
    handler: async ({ caller, query }) => {
      const page = readPage(query as { limit?: string; cursor?: string });
      const rows = await read(caller.organisation.id, page, query as Static<Q>);
      const { items, nextCursor } = pageOf(rows, page);
      return { status: 200, body: { items: items.map(record), nextCursor } };
    },
  });
}

export function getRoute<R extends Versioned>(
  routes: ResourceRoutes<R>,
  path: string,
  operation: Described,
  find: (orgId: string, id: string) => Promise<R | undefined>,
): void {
  const { api, deps, tag, one, schema } = routes;
  const answers = { 200: { description: `The ${one}`, schema } };
  readRoute(api, {
    tag,
    credential,
    ...operation,
    path,
    answers,
    authenticator: deps.authenticator,
    handler: async ({ caller, params }) => {
      const row = await find(caller.organisation.id, idOf(params, routes.idParameter));
      if (!row) throw notFound();
      return answerWith(routes, row);
    },
  });
}

/** @param write runs in the transaction that stores the response for an `Idempotency-Key` */
export function createRoute<R extends Versioned, B extends TSchema>(
  routes: ResourceRoutes<R>,
  path: string,
  { created = routes.schema, ...operation }: Creating<B>,
  write: (inside: ManagementDeps, call: WriteCall<Static<B>>) => Promise<Created<R>>,
): void {
  const { api, deps, one } = routes;
  const answers = { 201: { description: `The ${one}`, schema: created } };
  apiRoute<SystemAccountCaller, undefined, TSchema, Database>(api, {
    tag: routes.tag,
    credential,
    ...operation,
    method: "POST",
    path,
    lenient: { readOnly: [] },
    answers,
    authenticator: routes.deps.authenticator,
    handler: ({ within, ...call }) =>
      inTransaction(deps, within, async (inside): Promise<Answer> => {
        const body = call.body as Static<B>;
        const { row, members, shownOnce } = await write(inside, { ...call, body }).catch(routes.toAnswer);
        const { headers, body: record } = answerWith(routes, row);
        return {
          status: 201,
          headers: { location: `${deps.baseUrl}${path}/${row.id}`, ...headers },
          body: { ...(record as object), ...members },
          ...(shownOnce ? { shownOnce } : {}),
        };
      }),
  });
}

/** @param write returns undefined when there is no such record */
export function replaceRoute<R extends Versioned, B extends TSchema>(
  routes: ResourceRoutes<R>,
  path: string,
  { readOnly, ...operation }: Writing<B> & { readonly readOnly: readonly string[] },
  write: (key: RecordKey, call: WriteCall<Static<B>>) => Promise<R | undefined>,
): void {
  const answers = { 200: { description: `The updated ${routes.one}`, schema: routes.schema } };
  apiRoute<SystemAccountCaller, undefined, TSchema, Database>(routes.api, {
    tag: routes.tag,
    credential,
    ...operation,
    method: "PUT",
    path,
    lenient: { readOnly },
    answers,
    authenticator: routes.deps.authenticator,
    handler: async ({ params, ...call }) => {
      const body = call.body as Static<B>;
      const row = await write(keyOf(routes, call.caller, params), { ...call, body }).catch(routes.toAnswer);
      if (!row) throw notFound();
      return answerWith(routes, row);
    },
  });
}

/** @param remove returns false when there is no such record */
export function deleteRoute<R extends Versioned>(
  routes: ResourceRoutes<R>,
  path: string,
  { done = "Deleted", ...operation }: Described & { readonly done?: string },
  remove: (key: RecordKey, call: WriteCall<undefined>) => Promise<boolean>,
): void {
  apiRoute(routes.api, {
    tag: routes.tag,
    credential,
    ...operation,
    method: "DELETE",
    path,
    answers: { 204: { description: done } },
    authenticator: routes.deps.authenticator,
    handler: async ({ params, ...call }) => {
      const isRemoved = await remove(keyOf(routes, call.caller, params), call).catch(routes.toAnswer);
      if (!isRemoved) throw notFound();
      return { status: 204 };
    },
  });
}

const keyOf = <R extends Versioned>(
  { idParameter }: ResourceRoutes<R>,
  caller: SystemAccountCaller,
  params: Readonly<Record<string, string>>,
): RecordKey => ({ orgId: caller.organisation.id, id: idOf(params, idParameter), ...by(caller) });

const answerWith = <R extends Versioned>({ record }: ResourceRoutes<R>, row: R): Answer => ({
  status: 200,
  body: record(row),
  ...(row.version === undefined ? {} : { headers: { etag: etagOf(row.version) } }),
});
