/** API v1: the same five cases for each operation, from one row. */
import assert from "node:assert/strict";
import type { ApiScope } from "../../core/scopes/api-scopes.ts";
import { type ApiCallOptions, type ApiClient, makeApiClient } from "../fixtures/api-client.ts";
import type { ApiCase, ApiWorld } from "./api-operation.ts";

const PREFIX = "/api/v1/organisations/:org";

export interface ApiV1Row {
  readonly scopes: readonly ApiScope[];
  /** Below the organisation's path, for a record of organisation A that is made for this call. */
  path(world: ApiWorld): Promise<string> | string;
  /** What the address must end with, behind a question mark. */
  query?(world: ApiWorld): string;
  readonly status: number;
  options?(world: ApiWorld): Promise<ApiCallOptions> | ApiCallOptions;
  /** Bodies that are refused. */
  readonly wrong?: readonly unknown[];
  /** Ends of the address that are refused. */
  readonly wrongQueries?: readonly string[];
  /** Looks at the happy answer. */
  check?(body: Readonly<Record<string, unknown>>, world: ApiWorld): void;
}

/** The scope that is not enough: to read, for what changes; another area's, for what reads. */
function lesserScopes(scopes: readonly ApiScope[]): ApiScope[] {
  const read = scopes.map((scope) => scope.replace(/:write$/, ":read") as ApiScope);
  if (read.some((scope, index) => scope !== scopes[index])) return read;
  return [scopes.includes("signet:pools:read") ? "signet:devices:write" : "signet:pools:write"];
}

export function apiV1Case(method: string, row: ApiV1Row): ApiCase {
  const client = (
    { service, a, b }: ApiWorld,
    of: "a" | "b" = "a",
    scopes = row.scopes,
  ): Promise<ApiClient> => makeApiClient(service, { a, b }[of], scopes);
  const optionsIn = async (world: ApiWorld) => (await row.options?.(world)) ?? {};
  const addressIn = async (world: ApiWorld) => {
    const path = await row.path(world);
    return row.query ? `${path}?${row.query(world)}` : path;
  };
  return {
    happy: async (world) => {
      const one = await client(world);
      const { status, body } = await one.call(method, await addressIn(world), await optionsIn(world));
      assert.equal(status, row.status, JSON.stringify(body));
      row.check?.(body, world);
    },
    unauthenticated: async (world) => {
      const [one, path, options] = [await client(world), await addressIn(world), await optionsIn(world)];
      for (const accessToken of ["", "x", `${one.accessToken}x`])
        assert.equal((await one.call(method, path, { ...options, accessToken })).status, 401);
    },
    foreign: async (world) => {
      const [stranger, path, options] = [
        await client(world, "b"),
        await addressIn(world),
        await optionsIn(world),
      ];
      const orgId = world.a.organisation.id;
      assert.equal((await stranger.call(method, path, { ...options, orgId })).status, 404);
      const { status, body } = await stranger.call(method, path, options);
      // A list of its own; else the record is another organisation's, in the path or in the body.
      if (!/[0-9a-f]{8}-[0-9a-f-]{27}/.test(`${path}${JSON.stringify(options.body ?? "")}`)) return;
      assert.ok([404, 422].includes(status), `${status} ${JSON.stringify(body)}`);
    },
    forbidden: async (world) => {
      const lesser = await client(world, "a", lesserScopes(row.scopes));
      const { status, body, headers } = await lesser.call(
        method,
        await addressIn(world),
        await optionsIn(world),
      );
      assert.deepEqual([status, body["type"]], [403, "urn:signet:error:insufficient-scope"]);
      assert.match(headers.get("www-authenticate") ?? "", /error="insufficient_scope".*scope="signet:/);
    },
    malformed: async (world) => {
      const [one, path, options] = [await client(world), await row.path(world), await optionsIn(world)];
      const refuse = async (at: string, sent: ApiCallOptions) => {
        const { status, body } = await one.call(method, at, sent);
        assert.ok([400, 422].includes(status), `${at}: ${status} ${JSON.stringify(body)}`);
      };
      await refuse(`${path}?unknown=1`, options);
      for (const body of row.wrong ?? []) await refuse(path, { ...options, body });
      for (const query of row.wrongQueries ?? []) await refuse(`${path}?${query}`, options);
    },
  };
}

/** What every list refuses. */
export const wrongLists = [
  ...["limit=0", "limit=201", "limit=x", "cursor=x", "total=1", "sort=unknown", "limit=1&limit=2"],
  ...[
    "filter=x",
    "filter=unknown%20eq%201",
    "filter=createdAt%20gt%20%22x%22",
    `filter=${"x".repeat(1_001)}`,
  ],
];
/** Bodies that no record takes. */
export const wrongBodies = ["{", [], "x", { id: "x" }, { unknown: 1 }];

/** @param rows by method and path below the organisation's, as Fastify writes it */
export const apiV1Cases = (
  rows: Readonly<Record<string, ApiV1Row>>,
): Readonly<Record<string, ApiCase & { readonly row: ApiV1Row }>> =>
  Object.fromEntries(
    Object.entries(rows).map(([route, row]) => {
      const [method = "", path = ""] = route.split(" ");
      return [`${method} ${PREFIX}${path}`, { ...apiV1Case(method, row), row }];
    }),
  );
