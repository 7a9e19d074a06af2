/** The page of one signing agent and its keys. */
import { X509Certificate } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { listAgentKeys } from "../../../core/signing-pools/agent-key.store.ts";
import { type AgentKey, agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { consoleFrame, doneKey } from "../../../page-kit/console-frame.ts";
import {
  type ConsoleDeps,
  consoleRoute,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { agentPage, type ShownAgentKey } from "./agent.page.ts";
import { agentStatus } from "./pool-state.ts";
import { agentAt, poolCrumbs, poolPath } from "./pool-visit.ts";

export function agentRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/pools/:pool/agents/:agent", { get: showAgent });
}

async function showAgent(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const signedIn = await requireAdministrator(deps, visit);
  const { pool, agent } = await agentAt(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "pools");
  const now = deps.clock();
  const own = poolPath(visit, pool.id, `/agents/${agent.id}`);
  const keys = await listAgentKeys(deps.database.query, agent.orgId, agent.id);
  const page = agentPage({
    ...frame,
    breadcrumbs: poolCrumbs(visit, frame.messages, pool),
    agent,
    status: agentStatus(agent, now),
    keys: keys.map((key) => shownKey(key, now, own)).reverse(),
    uris: { keys: `${own}/keys`, deactivate: `${own}/deactivate`, compromise: `${own}/compromise` },
    lastChange: await findLastChange(deps, agent.orgId, agent.id, frame.messages),
    done: doneKey(visit, frame.messages.console.pools.agentPage.done),
  });
  await show(visit, frame, page);
}

function shownKey(key: AgentKey, now: number, own: string): ShownAgentKey {
  const state = agentKeyState(key, now);
  const { kid, alg, activeFrom, retiringAt, x5c } = key;
  const signs = state === "published" || state === "active";
  return {
    ...{ kid, alg, state, activeFrom, retiringAt },
    certificate: certificateOf(x5c),
    ...(signs && retiringAt === null ? { retireUri: `${own}/keys/${kid}/retire` } : {}),
  };
}

/** The key's own algorithm, as checked at registration. */
function certificateOf([leaf]: readonly string[]): ShownAgentKey["certificate"] {
  if (leaf === undefined) return undefined;
  const { subject, validToDate } = new X509Certificate(Buffer.from(leaf, "base64"));
  return { subject: subject.replaceAll("\n", ", "), until: validToDate.getTime() };
}
