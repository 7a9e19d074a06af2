/** The card of a threshold pool's key, with who has confirmed what in its newest ceremony. */
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { badge } from "../../../html/components/badge.ts";
import { card, facts } from "../../../html/components/card.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { CeremonyProgress, GroupKeyView, NamedAgent } from "./group-key.ts";
import { keyState } from "./pools.page.ts";

interface View {
  readonly pool: Pick<SigningPool, "id" | "threshold">;
  consoleUri(path: string): string;
  readonly messages: Messages;
}

export function groupKeyCard(view: View, { key, holders, ceremony }: GroupKeyView): Content {
  const { pool, messages } = view;
  const { groupKey: text } = messages.console.pools;
  if (pool.threshold === null) return undefined;
  const list = facts([
    {
      id: "group-key",
      label: text.key,
      content: key && [html`<code>${key.kid}</code> `, keyState(key.state, messages)],
    },
    {
      id: "group-key-holders",
      label: text.holders,
      content: key && holders.map((agent, index) => [index > 0 && ", ", agentLink(view, agent)]),
    },
  ]);
  return card({
    id: "group-key-card",
    title: text.title,
    text: text.text(pool.threshold),
    body: [
      key
        ? list
        : ceremony?.endedAt !== null &&
          html`<p class="quiet">${text.none}</p>
`,
      ceremony && ceremonyPart(view, ceremony),
    ],
  });
}

const agentLink = ({ pool, consoleUri }: View, { id, name }: NamedAgent): Html =>
  html`<a href="${linkAddress(consoleUri(`/pools/${pool.id}/agents/${id}`))}"><bdi>${name}</bdi></a>`;

function ceremonyPart(view: View, ceremony: CeremonyProgress): Content {
  const { pool, consoleUri, messages } = view;
  const { groupKey: text, agent: agentLabel } = messages.console.pools;
  const { kind, state, agents, begunAt, endedAt, endReason } = ceremony;
  const time = (at: number) => relativeTime(at, messages.format.second);
  const said = (at: number | undefined | null) =>
    at === null
      ? html`<span class="quiet">${text.notNeeded}</span>`
      : at === undefined
        ? text.notYet
        : time(at);
  const tone = state === "complete" ? "good" : state === "aborted" ? "bad" : "warn";
  return [
    html`<h3 id="ceremony-title">${text.kinds[kind]}</h3>
<p class="live-line" id="ceremony-state">${badge(tone, text.states[state])}</p>
`,
    endedAt === null &&
      html`<p class="quiet">${text.kindTexts[kind]}</p>
`,
    facts([
      { label: text.begun, content: time(begunAt) },
      { label: text.ended, content: endedAt !== null && time(endedAt) },
      { label: text.reason, content: endReason !== null && html`<bdi>${endReason}</bdi>` },
    ]),
    agents.length > 0 &&
      table({
        label: text.kinds[kind],
        columns: [agentLabel, text.joined, text.dealt, text.confirmed],
        rows: agents.map(({ id, name, joined, dealt, confirmed }) => ({
          id: `ceremony-${id}`,
          cells: [
            nameCell({ name, uri: consoleUri(`/pools/${pool.id}/agents/${id}`) }),
            ...[joined, dealt, confirmed].map(said),
          ],
        })),
        messages,
      }),
  ];
}
