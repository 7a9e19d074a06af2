/** The parts of a signing agent's page: what it is, its keys, and its end. */
import type { AgentKey, AgentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, type Row, rowLink, table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { RecordParts, RecordView } from "../../../page-kit/record-pages.ts";
import type { AgentRecord } from "./pool-path.ts";
import type { AgentStatus } from "./pool-state.ts";
import { agentState, keyState } from "./pools.page.ts";

export type ShownAgentKey = AgentKey & {
  state: AgentKeyState;
  /** `until` in milliseconds. */
  certificate: { subject: string; until: number } | undefined;
};

export type AgentView = RecordView<AgentRecord> & { status: AgentStatus };

/** What stands above every tab. */
export function aboveAgent(view: AgentView): RecordParts {
  const { record: agent, status, messages } = view;
  const { agentPage: text } = messages.console.pools;
  const keys = { id: "agent-keys", uri: view.uriOf("/keys"), label: text.addKeys };
  return {
    head: {
      name: agent.name,
      mark: recordIcon("key"),
      facts: [html`<span id="agent-state">${agentState(status, messages)}</span>`],
      id: { id: "agent-id", value: agent.id, label: text.id },
    },
    actions: agent.deactivatedAt === null && buttonLink(keys),
    more: endActs(view, "more-"),
    done: text.done,
  };
}

export const agentOverview = (view: AgentView, keys: readonly ShownAgentKey[]): Content => [
  detailsCard(view),
  keysCard(view, keys),
  view.record.compromisedAt === null && endCard(view),
];

function detailsCard({ record: agent, messages }: AgentView): Html {
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

function keysCard(view: AgentView, keys: readonly ShownAgentKey[]): Html {
  const { messages } = view;
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
          uri: view.uriOf(`/keys/${kid}/retire`),
          text: text.retire,
          label: text.retireOf({ value: kid }),
        })
      : undefined,
  };
}

/** @param prefix of the ids: a menu has them, too */
function endActs(view: AgentView, prefix = "") {
  const { record: agent } = view;
  const { agentPage: text } = view.messages.console.pools;
  const act = (name: "deactivate" | "compromise") => ({
    id: `${prefix}agent-${name}`,
    uri: view.uriOf(`/${name}`),
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
