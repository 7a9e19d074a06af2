/** Users by API v1. */
import assert from "node:assert/strict";
import type { ApiScope } from "../../core/scopes/api-scopes.ts";
import { type ApiCallOptions, makeApiClient } from "../fixtures/api-client.ts";
import type { ApiCase, ApiCases, ApiWorld } from "./api-operation.ts";

const PATH = "/api/v1/organisations/:org/users/:id";

interface Row {
  readonly scope: ApiScope;
  /** A scope that is not enough. */
  readonly lesser: ApiScope;
  readonly options?: ApiCallOptions;
  readonly wrong: readonly ApiCallOptions[];
}

function caseOf(method: string, { scope, lesser, options = {}, wrong }: Row): ApiCase {
  const pathIn = ({ a }: ApiWorld) => `/users/${a.user.id}`;
  const client = ({ service, a, b }: ApiWorld, scopes: readonly ApiScope[], of: "a" | "b" = "a") =>
    makeApiClient(service, { a, b }[of], scopes);
  return {
    happy: async (world) => {
      const { status, body } = await (await client(world, [scope])).call(method, pathIn(world), options);
      assert.deepEqual([status, body["id"]], [200, world.a.user.id]);
    },
    unauthenticated: async (world) => {
      const one = await client(world, [scope]);
      for (const accessToken of ["", "x", `${one.accessToken}x`])
        assert.equal((await one.call(method, pathIn(world), { ...options, accessToken })).status, 401);
    },
    foreign: async (world) => {
      const stranger = await client(world, [scope], "b");
      const orgId = world.a.organisation.id;
      assert.equal((await stranger.call(method, pathIn(world), { ...options, orgId })).status, 404);
      assert.equal((await stranger.call(method, pathIn(world), options)).status, 404);
    },
    forbidden: async (world) => {
      const { status, body } = await (await client(world, [lesser])).call(method, pathIn(world), options);
      assert.deepEqual([status, body["type"]], [403, "urn:signet:error:insufficient-scope"]);
    },
    malformed: async (world) => {
      const one = await client(world, [scope]);
      assert.equal((await one.call(method, "/users/x", options)).status, 404);
      for (const sent of wrong)
        assert.ok([400, 422].includes((await one.call(method, pathIn(world), sent)).status));
    },
  };
}

export const apiUsersCases: ApiCases = {
  [`GET ${PATH}`]: caseOf("GET", {
    scope: "signet:users:read",
    lesser: "signet:organisation:write",
    wrong: [],
  }),
  [`PATCH ${PATH}`]: caseOf("PATCH", {
    scope: "signet:users:write",
    lesser: "signet:users:read",
    options: { body: { nickname: "Uma" } },
    wrong: [{ body: "{" }, { body: [] }, { body: { id: "x" } }, { body: { nickname: 1 } }],
  }),
};
