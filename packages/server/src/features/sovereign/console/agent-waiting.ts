/** GET agents/{agent}/waiting: a panel that sees when a new agent has connected. */
import type { FastifyInstance } from "fastify";
import type { SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import { livePanel } from "../../../html/components/live-panel.ts";
import { stepList } from "../../../html/components/step-list.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { livePieceRoute } from "../../../page-kit/live-piece.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { agentPath, requireAgent } from "./pool-path.ts";
import { registrationSteps } from "./register.page.ts";

export function agentWaitingRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  livePieceRoute(
    app,
    deps,
    "/oauth/manage/:org/pools/:pool/agents/:agent/waiting",
    async (_, visit, messages) => agentPanel((await requireAgent(deps, visit)).agent, messages),
  );
}

export function agentPanel(agent: SigningAgent, messages: Messages): Html {
  const { agentWaiting: waiting } = messages.console.pools;
  const organisation = { id: agent.orgId };
  const panel = { id: "first-agent", uri: agentPath(organisation, agent, "/waiting") };
  if (agent.deactivatedAt !== null)
    return livePanel({ ...panel, title: waiting.failed, text: waiting.failedText, state: "failed" });
  const isConnected = agent.lastSeenAt !== null;
  const steps = registrationSteps({ isPasted: true, isApproved: true, isConnected }, messages);
  const body = html`${stepList(steps, messages)}<p><a id="waiting-agent" href="${linkAddress(agentPath(organisation, agent))}">${waiting.open}</a></p>
`;
  if (isConnected)
    return livePanel({ ...panel, title: waiting.done, text: waiting.doneText, state: "done", body });
  return livePanel({ ...panel, title: waiting.title, text: waiting.text, state: "waiting", body });
}
