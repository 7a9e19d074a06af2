/** Ending an agent, or one of its keys: each is asked on a page of its own. */
import type { FastifyInstance } from "fastify";
import { type AgentKey, agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { findAgentKey } from "../../../core/signing-pools/signing-pools.store.ts";
import { html } from "../../../html/html.ts";
import { confirmedActRoute, WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import type { ConsoleDeps } from "../../../page-kit/visit.ts";
import { deactivateAgent, retireAgentKey } from "../admin-api/agents.ts";
import { findAgentAt, type PoolAgent, poolCrumbs } from "./pool-visit.ts";

export function agentActRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  endRoute(app, deps, "deactivate");
  endRoute(app, deps, "compromise");
  retireRoute(app, deps);
}

const pathOf = ({ pool, agent }: PoolAgent): string => `/pools/${pool.id}/agents/${agent.id}`;

function endRoute(app: FastifyInstance, deps: ConsoleDeps, act: "deactivate" | "compromise"): void {
  const compromised = act === "compromise";
  confirmedActRoute<PoolAgent>(app, deps, {
    path: `/pools/:pool/agents/:agent/${act}`,
    current: "pools",
    find: (organisation, params) => findAgentAt(deps, { organisation }, params),
    overFor: (found) => {
      const { deactivatedAt, compromisedAt } = found.agent;
      return (compromised ? compromisedAt : deactivatedAt) === null ? undefined : pathOf(found);
    },
    question: (messages, found, organisation) => {
      const text = messages.console.pools.agentPage[act];
      return {
        heading: text.heading({ name: found.agent.name }),
        text: html`<p>${text.text}</p>`,
        confirm: text.submit,
        confirmId: `agent-${act}-confirm`,
        // It cannot be undone, and takes with it what is in use.
        ...(compromised ? { name: found.agent.name } : {}),
        back: pathOf(found),
        breadcrumbs: poolCrumbs({ organisation }, messages, found.pool, found.agent),
      };
    },
    act: async (by, found) => {
      await deactivateAgent(deps, by, { agentId: found.agent.id, compromised });
      return `${pathOf(found)}?done=${act}d`;
    },
  });
}

function retireRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmedActRoute<PoolAgent & { readonly key: AgentKey }>(app, deps, {
    path: "/pools/:pool/agents/:agent/keys/:kid/retire",
    current: "pools",
    find: async (organisation, params) => {
      const found = await findAgentAt(deps, { organisation }, params);
      const key = found && (await findAgentKey(deps.database.query, organisation.id, params["kid"] ?? ""));
      return found && key?.agentId === found.agent.id ? { ...found, key } : undefined;
    },
    overFor: (found) =>
      ["published", "active"].includes(agentKeyState(found.key, deps.clock())) ? undefined : pathOf(found),
    question: (messages, found, organisation) => {
      const { retireKey: text } = messages.console.pools.agentPage;
      return {
        heading: text.heading({ name: found.agent.name }),
        text: html`<p><code>${found.key.kid}</code></p><p>${text.text}</p>`,
        confirm: text.submit,
        confirmId: "key-retire-confirm",
        back: pathOf(found),
        breadcrumbs: poolCrumbs({ organisation }, messages, found.pool, found.agent),
      };
    },
    act: async (by, found) => {
      const retired = { agentId: found.agent.id, kid: found.key.kid };
      if (!(await retireAgentKey(deps, by, retired))) throw new WasSoAlready(pathOf(found));
      return `${pathOf(found)}?done=retired`;
    },
  });
}
