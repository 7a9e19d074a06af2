/** Keys of a signing agent: adding one, which retires those of its algorithm, and retiring one. */
import { findAgentKey } from "../../../core/signing-pools/agent-key.store.ts";
import type { AgentKey } from "../../../core/signing-pools/agent-key.ts";
import { findAgent } from "../../../core/signing-pools/signing-agent.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { noParameters } from "../../../http/api/schemas.ts";
import { actOf, apiAuthenticator } from "../access.ts";
import { inTransaction } from "../frame/api-deps.ts";
import { codedAnswer } from "../frame/member-faults.ts";
import { type ApiResource, createRoute } from "../frame/resource-routes.ts";
import { agentKeyRecord, agentKeySchema, presentedKey } from "./agent-record.ts";
import type { SigningDeps } from "./signing-deps.ts";

const tag = "API v1: signing pools";

export function apiAgentKeysRoutes(api: ApiScope, deps: SigningDeps): void {
  const keys: ApiResource<AgentKey, SigningDeps> = {
    ...{ api, deps, tag, one: "key", many: "keys", schema: agentKeySchema },
    reads: ["signet:pools:read"],
    writes: ["signet:pools:write"],
    record: (key) => agentKeyRecord(key, deps.clock()),
    toAnswer: (error) => codedAnswer(error, Object.keys(presentedKey.properties), "keys[0]"),
    volatile: ["state"],
  };
  createRoute(
    keys,
    "/api/v1/organisations/:org/agents/:id/keys",
    {
      operationId: "apiAddAgentKey",
      summary: "Add a key to a signing agent; its keys of the same algorithm retire when the new one signs",
      ...{ body: presentedKey, errors: [404, 409] },
      example: { jwk: { kty: "OKP", crv: "Ed25519", x: "…" }, pop: "…" },
    },
    async (inside, { caller, orgId, params, body }) => {
      const agentId = idOf(params);
      if (!(await findAgent(inside.database.query, orgId, agentId))) throw notFound();
      const [row] = await inside.signing.addAgentKeys(inside, actOf(caller), { agentId, keys: [body] });
      if (!row) throw notFound();
      return { row };
    },
  );
  retireRoute(api, deps);
}

function retireRoute(api: ApiScope, deps: SigningDeps): void {
  apiRoute(api, {
    ...{ tag, credential: "access-token", query: noParameters },
    description: "Scope: `signet:pools:write`. Repeatable.",
    method: "DELETE",
    path: "/api/v1/organisations/:org/agents/:id/keys/:kid",
    operationId: "apiRetireAgentKey",
    summary: "Retire a key: it signs nothing from then on, and stays published until its tokens have ended",
    answers: { 204: { description: "Retired" } },
    authenticator: apiAuthenticator(deps, "signet:pools:write"),
    handler: ({ caller, params }) =>
      inTransaction(deps, undefined, async (inside) => {
        const agentId = idOf(params);
        const { kid = "" } = params;
        const key = await findAgentKey(inside.database.query, caller.organisation.id, kid);
        if (key?.agentId !== agentId) throw notFound();
        await inside.signing.retireAgentKey(inside, actOf(caller), { agentId, kid });
        return { status: 204 };
      }),
  });
}
