/** Deactivates an agent, reports a compromise or retires a key, each with a confirmation page. */
import type { FastifyInstance } from "fastify";
import { findAgentKey } from "../../../core/signing-pools/agent-key.store.ts";
import { type AgentKey, agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { html } from "../../../html/html.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { deactivateAgent, retireAgentKey } from "../admin-api/agents.ts";
import { findAgentAt, type PoolAgent, poolCrumbs } from "./pool-visit.ts";

export function agentActRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmationRoute(
    app,
    deps,
    "/oauth/manage/:org/pools/:pool/agents/:agent/deactivate",
    ending("deactivate"),
  );
  confirmationRoute(
    app,
    deps,
    "/oauth/manage/:org/pools/:pool/agents/:agent/compromise",
    ending("compromise"),
  );
  confirmationRoute(
    app,
    deps,
    "/oauth/manage/:org/pools/:pool/agents/:agent/keys/:kid/retire",
    keyRetirement,
  );
}

const agentPath = (organisation: { id: string }, { pool, agent }: PoolAgent, query = ""): string =>
  consolePath(organisation, `/pools/${pool.id}/agents/${agent.id}${query}`);

function ending(act: "deactivate" | "compromise"): Confirmation<ConsoleDeps, PoolAgent> {
  const compromised = act === "compromise";
  return {
    current: "pools",
    load: (deps, organisation, params) => findAgentAt(deps, { organisation }, params),
    backUri: (organisation, found) => agentPath(organisation, found),
    isDone: (_, { agent: { deactivatedAt, compromisedAt } }) =>
      (compromised ? compromisedAt : deactivatedAt) !== null,
    question: (messages, found, organisation) => {
      const text = messages.console.pools.agentPage[act];
      return {
        heading: text.heading({ name: found.agent.name }),
        text: html`<p>${text.text}</p>`,
        confirm: text.submit,
        confirmId: `agent-${act}-confirm`,
        // Irreversible, and affects tokens in use.
        ...(compromised ? { name: found.agent.name } : {}),
        breadcrumbs: poolCrumbs({ organisation }, messages, found.pool, found.agent),
      };
    },
    apply: async (deps, by, found, { organisation }) => {
      await deactivateAgent(deps, by, { agentId: found.agent.id, compromised });
      return applied(agentPath(organisation, found, `?done=${act}d`));
    },
  };
}

const keyRetirement: Confirmation<ConsoleDeps, PoolAgent & { readonly key: AgentKey }> = {
  current: "pools",
  load: async (deps, organisation, params) => {
    const found = await findAgentAt(deps, { organisation }, params);
    const key = found && (await findAgentKey(deps.database.query, organisation.id, params["kid"] ?? ""));
    return found && key?.agentId === found.agent.id ? { ...found, key } : undefined;
  },
  backUri: (organisation, found) => agentPath(organisation, found),
  isDone: ({ clock }, { key }) => !["published", "active"].includes(agentKeyState(key, clock())),
  question: (messages, found, organisation) => {
    const { retireKey: text } = messages.console.pools.agentPage;
    return {
      heading: text.heading({ name: found.agent.name }),
      text: html`<p><code>${found.key.kid}</code></p><p>${text.text}</p>`,
      confirm: text.submit,
      confirmId: "key-retire-confirm",
      breadcrumbs: poolCrumbs({ organisation }, messages, found.pool, found.agent),
    };
  },
  apply: async (deps, by, found, { organisation }) => {
    const retired = { agentId: found.agent.id, kid: found.key.kid };
    if (!(await retireAgentKey(deps, by, retired))) return alreadyApplied;
    return applied(agentPath(organisation, found, "?done=retired"));
  },
};
