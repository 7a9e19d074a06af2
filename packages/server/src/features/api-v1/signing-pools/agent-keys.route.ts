/** Keys of a signing agent: adding one, which retires those of its algorithm, and retiring one. */
import { findAgentKey } from "../../../core/signing-pools/agent-key.store.ts";
import type { AgentKey } from "../../../core/signing-pools/agent-key.ts";
import { findAgent, lockAgent } from "../../../core/signing-pools/signing-agent.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { actOf } from "../access.ts";
import { codedAnswer } from "../frame/member-faults.ts";
import { type ApiResource, createRoute, deleteRoute } from "../frame/resource-routes.ts";
import { agentKeyRecord, agentKeySchema, presentedKey } from "./agent-record.ts";
import { heldByPool, requireHeldByPool } from "./held-by-pool.ts";
import type { SigningDeps } from "./signing-deps.ts";

export function apiAgentKeysRoutes(api: ApiScope, deps: SigningDeps): void {
  const keys: ApiResource<AgentKey, SigningDeps> = {
    ...{ api, deps, tag: "API v1: signing pools", one: "key", many: "keys", schema: agentKeySchema },
    reads: ["signet:pools:read"],
    writes: ["signet:pools:write"],
    record: (key) => agentKeyRecord(key, deps.clock()),
    toAnswer: (error) => codedAnswer(error, Object.keys(presentedKey.properties), "keys[0]"),
    ...{ idParameter: "kid", volatile: ["state"] },
  };
  createRoute(
    keys,
    "/api/v1/organisations/:org/agents/:id/keys",
    {
      operationId: "apiAddAgentKey",
      summary: "Add a key to a signing agent; its keys of the same algorithm retire when the new one signs",
      description: heldByPool,
      ...{ body: presentedKey, errors: [403, 404, 409] },
      example: { jwk: { kty: "OKP", crv: "Ed25519", x: "…" }, pop: "…" },
    },
    async (inside, { caller, orgId, params, body }) => {
      const agentId = idOf(params);
      const agent = await findAgent(inside.database.query, orgId, agentId);
      if (!agent) throw notFound();
      await requireHeldByPool(inside, caller, agent.poolId);
      const [row] = await inside.signing.addAgentKeys(inside, actOf(caller), { agentId, keys: [body] });
      if (!row) throw notFound();
      return { row };
    },
  );
  deleteRoute(
    keys,
    "/api/v1/organisations/:org/agents/:id/keys/:kid",
    {
      operationId: "apiRetireAgentKey",
      summary: "Retire a key: it signs nothing from then on, and stays published until its tokens have ended",
      ...{ description: "Repeatable.", done: "Retired" },
    },
    async (inside, { caller, orgId, params, id: kid, check }) => {
      const agentId = idOf(params);
      await lockAgent(inside.database.query, orgId, agentId);
      const key = await findAgentKey(inside.database.query, orgId, kid);
      if (key?.agentId !== agentId) return false;
      await check(key);
      await inside.signing.retireAgentKey(inside, actOf(caller), { agentId, kid });
      return true;
    },
  );
}
