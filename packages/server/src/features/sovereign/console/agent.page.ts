/** The page of one signing agent and its keys. */
import type { AgentKey, AgentKeyState, SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { copyStatus } from "../../../html/components/copy-field.ts";
import { overflowMenu } from "../../../html/components/overflow-menu.ts";
import { lastChangeLine } from "../../../html/components/record-form.ts";
import { recordHeading, recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, type Row, rowLink, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { AgentStatus } from "./pool-state.ts";
import { agentState, keyState } from "./pools.page.ts";

export type ShownAgentKey = AgentKey & {
  state: AgentKeyState;
  /** `until` in milliseconds. */
  certificate: { subject: string; until: number } | undefined;
};

export type AgentView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    agent: SigningAgent;
    status: AgentStatus;
    /** Newest first. */
    keys: readonly ShownAgentKey[];
    lastChange: { who: string; at: number } | undefined;
    done: keyof Messages["console"]["pools"]["agentPage"]["done"] | undefined;
  };

export function agentPage(view: AgentView): Html {
  const { agent, status, messages } = view;
  const { agentPage: text } = messages.console.pools;
  const isAtWork = agent.deactivatedAt === null;
  return consoleLayout({
    ...view,
    title: agent.name,
    ...recordHeading(
      {
        name: agent.name,
        mark: recordIcon("key"),
        facts: [html`<span id="agent-state">${agentState(status, messages)}</span>`],
        id: { id: "agent-id", value: agent.id, label: text.id },
      },
      messages,
    ),
    actions: [
      isAtWork && buttonLink({ id: "agent-keys", uri: ownUri(view, "/keys"), label: text.addKeys }),
      overflowMenu(endActs(view, "more-"), messages),
    ],
    notice: view.done && toast(text.done[view.done], view),
    body: [
      detailsCard(view),
      keysCard(view),
      agent.compromisedAt === null && endCard(view),
      lastChangeLine(view.lastChange, messages),
      copyStatus,
    ],
  });
}

const ownUri = ({ consoleUri, agent: { id, poolId } }: AgentView, rest: string): string =>
  consoleUri(`/pools/${poolId}/agents/${id}${rest}`);

function detailsCard({ agent, messages }: AgentView): Html {
  const { agentPage: text, lastSeen } = messages.console.pools;
  const { frame } = messages.console;
  const { deactivatedAt, compromisedAt, lastSeenAt } = agent;
  const { minute, second } = messages.format;
  return card({
    id: "agent-details",
    title: text.details,
    body: facts([
      { label: lastSeen, content: lastSeenAt === null ? frame.never : relativeTime(lastSeenAt, second) },
      { label: text.registered, content: relativeTime(agent.createdAt, minute) },
      { label: text.deactivated, content: deactivatedAt !== null && relativeTime(deactivatedAt, minute) },
      { label: text.compromised, content: compromisedAt !== null && relativeTime(compromisedAt, minute) },
    ]),
  });
}

function keysCard(view: AgentView): Html {
  const { keys, messages } = view;
  const { agentPage: text, keys: title } = messages.console.pools;
  return card({
    id: "agent-keys-list",
    title,
    text: text.keysText,
    body: table({
      label: title,
      columns: [text.key, messages.console.pools.state, text.from, text.until, text.certificate],
      rows: keys.map((key) => keyRow(key, view)),
      messages,
    }),
  });
}

function keyRow(key: ShownAgentKey, view: AgentView): Row {
  const { messages } = view;
  const { agentPage: text } = messages.console.pools;
  const { minute } = messages.format;
  const { kid, alg, state, activeFrom, retiringAt, certificate } = key;
  const canRetire = (state === "published" || state === "active") && retiringAt === null;
  return {
    id: `key-${kid}`,
    cells: [
      nameCell({ name: alg, note: html`<code>${kid}</code>` }),
      keyState(state, messages),
      relativeTime(activeFrom, minute),
      retiringAt === null ? text.untilSuccessor : relativeTime(retiringAt, minute),
      certificate
        ? html`<bdi>${certificate.subject}</bdi> <span class="quiet">${text.certificateUntil({ at: certificate.until })}</span>`
        : text.noCertificate,
    ],
    actions: canRetire
      ? rowLink({
          id: `retire-${kid}`,
          uri: ownUri(view, `/keys/${kid}/retire`),
          text: text.retire,
          label: text.retireOf({ value: kid }),
        })
      : undefined,
  };
}

/** @param prefix of the ids: a menu has them, too */
function endActs(view: AgentView, prefix = "") {
  const { agent } = view;
  const { agentPage: text } = view.messages.console.pools;
  const act = (name: "deactivate" | "compromise") => ({
    id: `${prefix}agent-${name}`,
    uri: ownUri(view, `/${name}`),
    label: text[name].submit,
    isQuestion: true,
    isDangerous: true,
  });
  return [
    ...(agent.deactivatedAt === null ? [act("deactivate")] : []),
    ...(agent.compromisedAt === null ? [act("compromise")] : []),
  ];
}

function endCard(view: AgentView): Html {
  const { agentPage: text } = view.messages.console.pools;
  return card({
    id: "agent-end",
    title: text.endTitle,
    text: text.endText,
    isDangerous: true,
    body: html`<div class="actions">${endActs(view).map(({ isDangerous: _, ...act }) => buttonLink({ ...act, kind: "danger" }))}</div>
`,
  });
}
