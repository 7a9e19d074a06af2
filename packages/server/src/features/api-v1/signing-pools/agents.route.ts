/** /api/v1/organisations/{org}/agents: the programs that sign for a pool. */
import { listAgentKeys } from "../../../core/signing-pools/agent-key.store.ts";
import { findAgent, lockAgent } from "../../../core/signing-pools/signing-agent.store.ts";
import { findPool } from "../../../core/signing-pools/signing-pool.store.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import { codedAnswer, unknownReference } from "../frame/member-faults.ts";
import { type ApiResource, actRoute, createRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { agentRecord, agentSchema, createdAgent, type KeyedAgent, newAgent } from "./agent-record.ts";
import { agentFields, listAgentPage } from "./agents-list.store.ts";
import { heldByPool, requireHeldByPool } from "./held-by-pool.ts";
import type { SigningDeps } from "./signing-deps.ts";

export async function findKeyedAgent(
  { database: { query } }: SigningDeps,
  { orgId, id }: { readonly orgId: string; readonly id: string },
): Promise<KeyedAgent | undefined> {
  const agent = await findAgent(query, orgId, id);
  return agent && { ...agent, keys: await listAgentKeys(query, orgId, id) };
}

export function apiAgentsRoutes(api: ApiScope, deps: SigningDeps): void {
  const agents: ApiResource<KeyedAgent, SigningDeps> = {
    ...{ api, deps, tag: "API v1: signing pools", one: "signing agent", many: "signing agents" },
    reads: ["signet:pools:read"],
    writes: ["signet:pools:write"],
    schema: agentSchema,
    record: (agent) => agentRecord(agent, deps.clock()),
    toAnswer: (error) => codedAnswer(error, ["name", "keys"]),
    volatile: ["lastSeenAt", "keys.state"],
  };
  listRoute(
    agents,
    "/api/v1/organisations/:org/agents",
    {
      operationId: "apiListAgents",
      summary: "List signing agents, deactivated ones too",
      fields: agentFields,
    },
    ({ orgId, list }) => listAgentPage(deps.database.query, orgId, list),
  );
  getRoute(
    agents,
    "/api/v1/organisations/:org/agents/:id",
    { operationId: "apiReadAgent", summary: "Get a signing agent and its keys" },
    ({ orgId, id }) => findKeyedAgent(deps, { orgId, id }),
  );
  createRoute(
    agents,
    "/api/v1/organisations/:org/agents",
    {
      operationId: "apiRegisterAgent",
      summary: "Register a signing agent with its public keys; its API key is shown once",
      description: heldByPool,
      ...{ body: newAgent, created: createdAgent, errors: [403, 409] },
      example: {
        ...{ poolId: "01998d6e-0000-7000-8000-000000000000", name: "agent-1" },
        keys: [{ jwk: { kty: "OKP", crv: "Ed25519", x: "…" }, pop: "…" }],
      },
    },
    async (inside, { caller, orgId, body }) => {
      const poolId = body.poolId.toLowerCase();
      if (!(await findPool(inside.database.query, orgId, poolId))) throw unknownReference("/poolId");
      await requireHeldByPool(inside, caller, poolId);
      const made = await inside.signing.registerAgent(inside, actOf(caller), { ...body, poolId });
      const row = { ...made.agent, keys: made.keys };
      return { row, members: { apiKey: made.apiKey }, shownOnce: ["apiKey"] };
    },
  );
  endRoutes(agents);
}

function endRoutes(agents: ApiResource<KeyedAgent, SigningDeps>): void {
  actRoute(
    agents,
    "/api/v1/organisations/:org/agents/:id/deactivate",
    {
      operationId: "apiDeactivateAgent",
      summary: "Deactivate a signing agent: its API key ends at once, tokens that it signed stay valid",
    },
    (inside, call) => ended(inside, call, false),
  );
  actRoute(
    agents,
    "/api/v1/organisations/:org/agents/:id/compromise",
    {
      operationId: "apiReportAgentCompromised",
      summary: "Report that a signing agent's keys are known to others: its tokens end too; irreversible",
    },
    (inside, call) => ended(inside, call, true),
  );
}

async function ended(
  inside: SigningDeps,
  call: {
    readonly caller: Parameters<typeof actOf>[0];
    readonly orgId: string;
    readonly id: string;
    check(agent: KeyedAgent): Promise<void>;
  },
  compromised: boolean,
): Promise<KeyedAgent | undefined> {
  await lockAgent(inside.database.query, call.orgId, call.id);
  const before = await findKeyedAgent(inside, call);
  if (!before) return undefined;
  await call.check(before);
  await inside.signing.deactivateAgent(inside, actOf(call.caller), { agentId: call.id, compromised });
  return findKeyedAgent(inside, call);
}
