/** Signing pools and agents by API v1. */
import { countActiveAgents } from "../../core/signing-pools/signing-agent.store.ts";
import { listAllPools } from "../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../core/signing-pools/signing-pool.ts";
import { deletePool } from "../../features/sovereign/admin-api/pools.ts";
import { makeAgent, makePool, newAgentKey, presentedKey } from "../fixtures/agent.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const reads = ["signet:pools:read"] as const;
const writes = ["signet:pools:write"] as const;
const pool = { name: "Pool", algs: ["ES256"], maxTokenLifetimeSeconds: 600 };

/** An organisation has 50 at most, and a run of every case makes more. */
async function newPool({ service, a }: ApiWorld): Promise<SigningPool> {
  const { id: orgId } = a.organisation;
  const [oldest, ...others] = await listAllPools(service.database.query, orgId);
  const inside = { ...service, baseUrl: service.config.baseUrl };
  if (oldest && others.length > 40) await deletePool(inside, { orgId, actor: "test" }, oldest.id);
  return makePool(service, a);
}

/** One that takes the agents of these tests. */
async function poolOf(world: ApiWorld): Promise<SigningPool> {
  const { query } = world.service.database;
  for (const one of (await listAllPools(query, world.a.organisation.id)).reverse()) {
    const fits = one.disabledAt === null && one.algs.includes("ES256") && !one.requireX5c;
    if (fits && (await countActiveAgents(query, one.orgId, one.id)) < 50) return one;
  }
  return newPool(world);
}

const poolPath = async (world: ApiWorld) => `/pools/${(await newPool(world)).id}`;
const newAgent = async (world: ApiWorld) => makeAgent(world.service, world.a, await poolOf(world));
const agentPath = async (world: ApiWorld) => `/agents/${(await newAgent(world)).agentId}`;
const below = (end: string) => async (world: ApiWorld) => `${await agentPath(world)}${end}`;
const presented = ({ service }: ApiWorld, of: SigningPool) => presentedKey(service, of, newAgentKey("ES256"));

const wrongPools = [
  ...[
    { ...pool, name: "" },
    { ...pool, algs: [] },
    { ...pool, algs: ["ES256", "ES256"] },
  ],
  ...[
    { ...pool, algs: ["HS256"] },
    { ...pool, maxTokenLifetimeSeconds: 59 },
    { ...pool, issuerMode: "x" },
  ],
  ...[
    { ...pool, keyPublishDelaySeconds: -1 },
    { ...pool, trustedRoots: ["x"] },
  ],
  ...[
    { ...pool, requireX5c: true },
    { ...pool, tokenWaitSeconds: 21 },
    { ...pool, maxPending: 0 },
  ],
];

export const apiPoolCases = apiV1Cases({
  "GET /pools": { scopes: reads, path: () => "/pools", status: 200, wrongQueries: wrongLists },
  "GET /pools/:id": { scopes: reads, path: poolPath, status: 200 },
  "POST /pools": {
    ...{ scopes: writes, path: () => "/pools", status: 201 },
    options: async (world) => {
      await newPool(world);
      return { body: pool };
    },
    wrong: [...wrongBodies, {}, ...wrongPools],
  },
  "PATCH /pools/:id": {
    ...{ scopes: writes, path: poolPath, options: () => ({ body: { name: "Renamed" } }), status: 200 },
    wrong: [
      ...[...wrongBodies, { name: null }, { algs: null }, { issuerMode: "pool" }, { issuer: "x" }],
      ...[{ maxTokenLifetimeSeconds: null }, { requireX5c: true }, { trustedRoots: ["x"] }],
    ],
  },
  "DELETE /pools/:id": { scopes: writes, path: poolPath, status: 204, wrong: [{}] },
  "GET /agents": { scopes: reads, path: () => "/agents", status: 200, wrongQueries: wrongLists },
  "GET /agents/:id": { scopes: reads, path: agentPath, status: 200 },
  "POST /agents": {
    ...{ scopes: writes, path: () => "/agents", status: 201 },
    options: async (world) => {
      const of = await poolOf(world);
      return { body: { poolId: of.id, name: "agent-1", keys: [presented(world, of)] } };
    },
    wrong: [
      ...[...wrongBodies, {}, { poolId: crypto.randomUUID(), name: "x", keys: [] }],
      ...[{ poolId: crypto.randomUUID(), name: "x", keys: [{ jwk: {}, pop: "x" }] }],
    ],
  },
  "POST /agents/:id/deactivate": {
    ...{ scopes: writes, path: below("/deactivate"), status: 200, wrong: [{ unknown: 1 }] },
  },
  "POST /agents/:id/compromise": {
    ...{ scopes: writes, path: below("/compromise"), status: 200, wrong: [{ unknown: 1 }] },
  },
  "POST /agents/:id/keys": {
    ...{ scopes: writes, path: below("/keys"), status: 201 },
    options: async (world) => ({ body: presented(world, await poolOf(world)) }),
    wrong: [
      ...[...wrongBodies, {}, { jwk: {}, pop: "x" }, { jwk: { kty: "EC" }, pop: "x" }],
      ...[{ jwk: { kty: "OKP", crv: "Ed25519", x: "x", d: "x" }, pop: "x" }],
    ],
  },
  "DELETE /agents/:id/keys/:kid": {
    ...{ scopes: writes, status: 204, wrong: [{}] },
    path: async (world) => {
      const { agentId, keys } = await newAgent(world);
      return `/agents/${agentId}/keys/${keys[0]?.kid}`;
    },
  },
});
