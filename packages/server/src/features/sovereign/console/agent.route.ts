/** One signing agent and its keys: its tabs, and confirmations to deactivate it, report a compromise or retire a key. */
import { X509Certificate } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { findAgentKey, listAgentKeys } from "../../../core/signing-pools/agent-key.store.ts";
import { type AgentKey, agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { html } from "../../../html/html.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { type TabbedRecord, tabbedRecordRoutes } from "../../../page-kit/record-tabs.ts";
import { deactivateAgent, retireAgentKey } from "../admin-api/agents.ts";
import { type AgentView, aboveAgent, agentOverview, type ShownAgentKey } from "./agent.page.ts";
import {
  type AgentRecord,
  agentPath,
  findAgentAt,
  type PoolAgent,
  poolCrumbs,
  requireAgent,
} from "./pool-path.ts";
import { agentStatus } from "./pool-state.ts";

export function agentRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  tabbedRecordRoutes(app, deps, agentRecord);
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/agents/:agent/deactivate", deactivation);
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/agents/:agent/compromise", compromise);
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/agents/:agent/keys/:kid/retire", retirement);
}

const agentRecord: TabbedRecord<ConsoleDeps, AgentRecord, AgentView> = {
  place: {
    current: "pools",
    require: async (deps, visit) => {
      const { agent, pool } = await requireAgent(deps, visit);
      return { ...agent, pool };
    },
    pathOf: agentPath,
    crumbsAbove: (frame, { pool }) => poolCrumbs(frame, { pool }),
  },
  load: ({ clock }, view) => ({ ...view, status: agentStatus(view.record, clock()) }),
  above: aboveAgent,
  tabs: [
    {
      name: "overview",
      url: "/oauth/manage/:org/pools/:pool/agents/:agent",
      content: async ({ database, clock }, view) => {
        const { orgId, id } = view.record;
        const now = clock();
        const keys = await listAgentKeys(database.query, orgId, id);
        const shown = keys.map((key) => ({
          ...key,
          state: agentKeyState(key, now),
          certificate: certificateOf(key),
        }));
        return agentOverview(view, shown.reverse());
      },
    },
    {
      name: "activity",
      url: "/oauth/manage/:org/pools/:pool/agents/:agent/activity",
      content: (deps, { record: { id }, messages }, { organisation }) =>
        activityCard(deps, organisation, { kind: "agent", id }, messages),
    },
  ],
};

function certificateOf({ x5c: [leaf] }: AgentKey): ShownAgentKey["certificate"] {
  if (leaf === undefined) return undefined;
  const { subject, validToDate } = new X509Certificate(Buffer.from(leaf, "base64"));
  return { subject: subject.replaceAll("\n", ", "), until: validToDate.getTime() };
}

const aboutAgent: Pick<Confirmation<never, PoolAgent>, "current" | "backUri" | "breadcrumbs"> = {
  current: "pools",
  backUri: (organisation, { agent }) => agentPath(organisation, agent),
  breadcrumbs: poolCrumbs,
};

export function agentEnding(act: "deactivate" | "compromise"): Confirmation<ConsoleDeps, PoolAgent> {
  const compromised = act === "compromise";
  return {
    ...aboutAgent,
    load: findAgentAt,
    isDone: (_, { agent: { deactivatedAt, compromisedAt } }) =>
      (compromised ? compromisedAt : deactivatedAt) !== null,
    question: ({ console: { pools } }, { agent: { name } }) => {
      const { heading, text, submit } = pools.agentPage[act];
      const question = {
        heading: heading({ name }),
        text,
        confirm: submit,
        confirmId: `agent-${act}-confirm`,
      };
      // Irreversible, and affects tokens in use.
      return compromised ? { ...question, name } : question;
    },
    apply: async (deps, by, { agent }) => {
      await deactivateAgent(deps, by, { agentId: agent.id, compromised });
      return done(`${act}d`);
    },
  };
}

const deactivation = agentEnding("deactivate");
const compromise = agentEnding("compromise");

const retirement: Confirmation<ConsoleDeps, PoolAgent & { readonly key: AgentKey }> = {
  ...aboutAgent,
  load: async (deps, organisation, params) => {
    const found = await findAgentAt(deps, organisation, params);
    const key = found && (await findAgentKey(deps.database.query, organisation.id, params["kid"] ?? ""));
    return found && key?.agentId === found.agent.id ? { ...found, key } : undefined;
  },
  isDone: ({ clock }, { key }) => !["published", "active"].includes(agentKeyState(key, clock())),
  question: ({ console: { pools } }, { agent, key }) => {
    const { retireKey: text } = pools.agentPage;
    return {
      heading: text.heading({ name: agent.name }),
      text: html`<p><code>${key.kid}</code></p><p>${text.text}</p>`,
      confirm: text.submit,
      confirmId: "key-retire-confirm",
    };
  },
  apply: async (deps, by, { agent, key: { kid } }) =>
    (await retireAgentKey(deps, by, { agentId: agent.id, kid })) ? done("retired") : alreadyApplied,
};
