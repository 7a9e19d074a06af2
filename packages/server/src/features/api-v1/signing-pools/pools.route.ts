/** /api/v1/organisations/{org}/pools: whose agents hold the keys of an organisation's tokens. */
import { findPool, listAllPools, lockPoolForUpdate } from "../../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { conflict } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { stale } from "../../../http/api/concurrency.ts";
import { actOf } from "../access.ts";
import { codedAnswer } from "../frame/member-faults.ts";
import {
  type ApiResource,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
} from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import {
  newPool,
  patchedPool,
  poolFields,
  poolMembers,
  poolPatch,
  poolRecord,
  poolSchema,
} from "./pool-record.ts";
import type { SigningDeps } from "./signing-deps.ts";

export function apiPoolsRoutes(api: ApiScope, deps: SigningDeps): void {
  const record = poolRecord(deps.baseUrl);
  const pools: ApiResource<SigningPool, SigningDeps> = {
    ...{ api, deps, tag: "API v1: signing pools", one: "signing pool", many: "signing pools" },
    reads: ["signet:pools:read"],
    writes: ["signet:pools:write"],
    ...{ schema: poolSchema, record, toAnswer: (error) => codedAnswer(error, poolMembers) },
  };
  listRoute(
    pools,
    "/api/v1/organisations/:org/pools",
    { operationId: "apiListPools", summary: "List signing pools", fields: poolFields },
    async ({ orgId, list }) =>
      memoryPage(list, await listAllPools(deps.database.query, orgId), { fields: poolFields, record }),
  );
  getRoute(
    pools,
    "/api/v1/organisations/:org/pools/:id",
    { operationId: "apiReadPool", summary: "Get a signing pool" },
    ({ orgId, id }) => findPool(deps.database.query, orgId, id),
  );
  createRoute(
    pools,
    "/api/v1/organisations/:org/pools",
    {
      operationId: "apiCreatePool",
      summary: "Create a signing pool",
      ...{ body: newPool, errors: [409] },
      example: { name: "Headquarters", algs: ["ES256"], maxTokenLifetimeSeconds: 3_600 },
    },
    async (inside, { caller, body: { enabled = true, ...settings } }) => {
      const by = actOf(caller);
      const pool = await inside.signing.createPool(inside, by, settings);
      return { row: enabled ? pool : await disabled(inside, by, pool) };
    },
  );
  changeRoutes(pools);
}

type By = ReturnType<typeof actOf>;

async function disabled(inside: SigningDeps, by: By, pool: SigningPool): Promise<SigningPool> {
  await inside.signing.disablePool(inside, by, { id: pool.id, disabled: true });
  return (await findPool(inside.database.query, pool.orgId, pool.id)) ?? pool;
}

function changeRoutes(pools: ApiResource<SigningPool, SigningDeps>): void {
  patchRoute(
    pools,
    "/api/v1/organisations/:org/pools/:id",
    {
      operationId: "apiChangePool",
      summary: "Change a signing pool",
      ...{ body: poolPatch, example: { maxTokenLifetimeSeconds: 900 } },
    },
    async (inside, { caller, orgId, id, check, patch }) => {
      const before = await lockPoolForUpdate(inside.database.query, orgId, id);
      if (!before) return undefined;
      await check(before);
      const { signing } = inside;
      const by = actOf(caller);
      const settings = await signing.checkPoolSettings(patchedPool(before, patch), inside.clock());
      const isSame = JSON.stringify({ ...before, ...settings }) === JSON.stringify(before);
      if (!isSame && !(await signing.changePool(inside, by, before, settings))) throw stale();
      if (patch.enabled !== undefined)
        await signing.disablePool(inside, by, { id, disabled: patch.enabled === false });
      return findPool(inside.database.query, orgId, id);
    },
  );
  deleteRoute(
    pools,
    "/api/v1/organisations/:org/pools/:id",
    {
      operationId: "apiDeletePool",
      summary: "Delete a signing pool with its agents and keys: the tokens that they signed end",
      errors: [409],
    },
    async (inside, { caller, orgId, id, check }) => {
      const pool = await lockPoolForUpdate(inside.database.query, orgId, id);
      if (!pool) return false;
      await check(pool);
      const outcome = await inside.signing.deletePool(inside, actOf(caller), id);
      if (outcome === "in-use") throw conflict("An application is assigned to the pool.");
      return outcome === "deleted";
    },
  );
}
