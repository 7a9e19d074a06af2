/** The page of one signing agent and its keys. */
import type { AgentKeyState, SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { buttonLink, card, facts, moment } from "../../../html/components/parts.ts";
import { lastChangeLine, successNotice } from "../../../html/components/record-form.ts";
import { nameCell, type Row, rowLink, table } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { AgentStatus } from "./pool-state.ts";
import { agentState, keyState } from "./pool-words.ts";

export type ShownAgentKey = {
  kid: string;
  alg: string;
  state: AgentKeyState;
  /** Milliseconds. */
  activeFrom: number;
  retiringAt: number | null;
  certificate: { subject: string; until: number } | undefined;
  /** For a key that signs or will sign. */
  retireUri?: string;
};

export type AgentView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    agent: SigningAgent;
    status: AgentStatus;
    /** Newest first. */
    keys: readonly ShownAgentKey[];
    uris: { keys: string; deactivate: string; compromise: string };
    lastChange: { who: string; at: number } | undefined;
    done: keyof Messages["console"]["pools"]["agentPage"]["done"] | undefined;
  };

export function agentPage(view: AgentView): Html {
  const { agent, messages, uris } = view;
  const { agentPage: text } = messages.console.pools;
  const isAtWork = agent.deactivatedAt === null;
  return consoleLayout({
    ...view,
    title: agent.name,
    heading: html`<bdi>${agent.name}</bdi>`,
    actions: isAtWork && buttonLink({ id: "agent-keys", uri: uris.keys, label: text.addKeys }),
    notice: view.done && successNotice(text.done[view.done]),
    body: [
      detailsCard(view),
      keysCard(view),
      agent.compromisedAt === null && endCard(view),
      lastChangeLine(view.lastChange, messages),
    ],
  });
}

function detailsCard({ agent, status, messages }: AgentView): Html {
  const { agentPage: text, lastSeen, state } = messages.console.pools;
  const { frame } = messages.console;
  const { deactivatedAt, compromisedAt, lastSeenAt } = agent;
  return card({
    id: "agent-details",
    title: text.details,
    body: facts([
      { label: state, content: agentState(status, messages) },
      {
        label: lastSeen,
        content: lastSeenAt === null ? frame.never : moment(lastSeenAt, messages.format.second),
      },
      { label: text.registered, content: moment(agent.createdAt, messages.format.minute) },
      {
        label: text.deactivated,
        content: deactivatedAt !== null && moment(deactivatedAt, messages.format.minute),
      },
      {
        label: text.compromised,
        content: compromisedAt !== null && moment(compromisedAt, messages.format.minute),
      },
      { label: text.id, content: html`<code>${agent.id}</code>` },
    ]),
  });
}

function keysCard({ keys, messages }: AgentView): Html {
  const { agentPage: text, keys: title } = messages.console.pools;
  return card({
    id: "agent-keys-list",
    title,
    text: text.keysText,
    body: table({
      label: title,
      columns: [text.key, messages.console.pools.state, text.from, text.until, text.certificate],
      rows: keys.map((key) => keyRow(key, messages)),
      messages,
    }),
  });
}

function keyRow(key: ShownAgentKey, messages: Messages): Row {
  const { agentPage: text } = messages.console.pools;
  const { minute } = messages.format;
  const { kid, alg, activeFrom, retiringAt, certificate, retireUri } = key;
  return {
    id: `key-${kid}`,
    cells: [
      nameCell({ name: alg, note: html`<code>${kid}</code>` }),
      keyState(key.state, messages),
      moment(activeFrom, minute),
      retiringAt === null ? text.untilSuccessor : moment(retiringAt, minute),
      certificate
        ? html`<bdi>${certificate.subject}</bdi> <span class="quiet">${text.certificateUntil({ at: certificate.until })}</span>`
        : text.noCertificate,
    ],
    ...(retireUri === undefined
      ? {}
      : {
          actions: rowLink({
            id: `retire-${kid}`,
            uri: retireUri,
            text: text.retire,
            label: text.retireOf({ value: kid }),
          }),
        }),
  };
}

function endCard({ agent, uris, messages }: AgentView): Html {
  const { agentPage: text } = messages.console.pools;
  return card({
    id: "agent-end",
    title: text.endTitle,
    text: text.endText,
    isDangerous: true,
    body: html`<div class="actions">${
      agent.deactivatedAt === null &&
      buttonLink({
        id: "agent-deactivate",
        uri: uris.deactivate,
        label: text.deactivate.submit,
        isDangerous: true,
      })
    }${buttonLink({ id: "agent-compromise", uri: uris.compromise, label: text.compromise.submit, isDangerous: true })}</div>
`,
  });
}
