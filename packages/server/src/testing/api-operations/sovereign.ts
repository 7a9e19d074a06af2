/** Pools and agents by API: the same five cases for each, whose refusals have the form of OAuth. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { makeAgent, makePool, newAgentKey, presentedKey } from "../fixtures/agent.ts";
import { type ApiAnswer, callApi, type TestAccount } from "../fixtures/system-account.ts";
import type { ApiCase, ApiCases, ApiWorld } from "./api-operation.ts";

interface Asked {
  /** Below `sovereign/admin`. */
  readonly path: string;
  readonly body?: unknown;
}

const call = (
  { a, clock }: ApiWorld,
  method: string,
  by: TestAccount | undefined,
  { path, body }: Asked,
): Promise<ApiAnswer> =>
  callApi(`${a.issuer}/sovereign/admin${path}`, by, {
    method,
    strictAt: clock(),
    ...(body === undefined ? {} : { body }),
  });

function caseOf(
  method: string,
  status: number,
  asked: (world: ApiWorld) => Promise<Asked>,
  wrong: readonly Asked[],
): ApiCase {
  const refused = async (answer: ApiAnswer, expected: number, error: string) => {
    assert.equal(answer.status, expected, answer.text);
    assert.equal(answer.body["error"], error);
    assert.equal(typeof answer.body["error_description"], "string");
    assert.equal(answer.headers.get("cache-control"), "no-store");
  };
  return {
    happy: async (world) => {
      const answer = await call(world, method, world.administratorOfA, await asked(world));
      assert.equal(answer.status, status, answer.text);
    },
    unauthenticated: async (world) => {
      const known = await asked(world);
      await refused(await call(world, method, undefined, known), 401, "invalid_client");
      const stranger = { ...world.administratorOfA, secret: "sgn_sa_x" };
      await refused(await call(world, method, stranger, known), 401, "invalid_client");
    },
    foreign: async (world) =>
      refused(await call(world, method, world.administratorOfB, await asked(world)), 404, "not_found"),
    forbidden: async (world) =>
      refused(await call(world, method, world.plainOfA, await asked(world)), 401, "invalid_client"),
    malformed: async (world) => {
      const known = await asked(world);
      for (const { path, body } of wrong) {
        const sent = { path: path || known.path, ...(body === undefined ? {} : { body }) };
        const answer = await call(world, method, world.administratorOfA, sent);
        await refused(answer, 400, "invalid_request");
      }
    },
  };
}

const poolOf = ({ service, a }: ApiWorld) => makePool(service, a);

async function newAgent(world: ApiWorld): Promise<Asked> {
  const pool = await poolOf(world);
  const keys = [presentedKey(world.service, pool, newAgentKey("ES256"))];
  return { path: "/agents", body: { poolId: pool.id, name: "agent-1", keys } };
}

async function newKeys(world: ApiWorld): Promise<Asked> {
  const pool = await poolOf(world);
  const { agentId } = await makeAgent(world.service, world.a, pool);
  const keys = [presentedKey(world.service, pool, newAgentKey("ES256"))];
  return { path: `/agents/${agentId}/keys`, body: { keys } };
}

const pool = { name: "Pool", algs: ["ES256"], maxTokenLifetimeSeconds: 600 };
const wrongBodies = [undefined, {}, [], "{", { ...pool, more: 1 }].map((body) => ({ path: "", body }));

export const sovereignCases: ApiCases = {
  "POST /oauth/:org/sovereign/admin/pools": caseOf(
    "POST",
    201,
    async () => ({ path: "/pools", body: pool }),
    [
      ...wrongBodies,
      ...[
        { name: "" },
        { algs: [] },
        { algs: ["ES256", "ES256"] },
        { maxTokenLifetimeSeconds: 59 },
        { maxTokenLifetimeSeconds: 86_401 },
        { issuerMode: "other" },
        { keyPublishDelaySeconds: -1 },
        { trustedRoots: ["x"] },
        { requireX5c: true },
      ].map((more) => ({ path: "", body: { ...pool, ...more } })),
    ],
  ),
  "POST /oauth/:org/sovereign/admin/agents": caseOf("POST", 201, newAgent, [
    ...wrongBodies,
    { path: "", body: { poolId: randomUUID(), name: "x", keys: [] } },
  ]),
  "POST /oauth/:org/sovereign/admin/agents/:agentId/keys": caseOf("POST", 201, newKeys, [
    ...wrongBodies,
    { path: "", body: { keys: [{ jwk: {} }] } },
  ]),
  "DELETE /oauth/:org/sovereign/admin/agents/:agentId": caseOf(
    "DELETE",
    204,
    async (world) => ({
      path: `/agents/${(await makeAgent(world.service, world.a, await poolOf(world))).agentId}`,
    }),
    [
      { path: `/agents/${randomUUID()}?compromised=perhaps` },
      { path: `/agents/${randomUUID()}?compromized=true` },
      { path: `/agents/${randomUUID()}?compromised=true&compromised=true` },
    ],
  ),
};
