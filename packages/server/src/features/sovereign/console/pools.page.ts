/** The list of signing pools. */
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { livePiece, liveStatus } from "../../../html/components/live.ts";
import { buttonLink, card, emptyState } from "../../../html/components/parts.ts";
import { successNotice } from "../../../html/components/record-form.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { liveScript } from "../../../html/scripts.ts";
import type { PoolLoad } from "./pool-state.ts";
import { poolState } from "./pool-words.ts";

export type ListedPool = PoolLoad & { id: string; name: string; algs: readonly string[]; uri: string };

export type PoolsView = ConsoleFrame & {
  /** All on one page: an organisation has few. */
  pools: readonly ListedPool[];
  liveUri: string;
  ownUri: string;
  newUri: string;
  isDeleted: boolean;
};

export function poolsPage(view: PoolsView): Html {
  const { pools: text, frame } = view.messages.console;
  const isEmpty = view.pools.length === 0;
  const add = { id: "pool-new", uri: view.newUri, label: text.make, isPrimary: true };
  return consoleLayout({
    ...view,
    title: frame.pages.pools,
    summary: text.summary,
    breadcrumbs: [],
    actions: !isEmpty && buttonLink(add),
    notice: view.isDeleted ? successNotice(text.done.deleted) : undefined,
    scripts: isEmpty ? [] : [liveScript.path],
    body: isEmpty
      ? html`<section class="card">${emptyState({ title: text.none, text: text.noneText, action: buttonLink(add) })}</section>
`
      : [
          card({
            id: "pools",
            title: text.title,
            actions: reloadLink(view.ownUri, view.messages),
            body: poolTable(view),
          }),
          liveStatus,
        ],
  });
}

/** For browsers without scripts; with scripts the page reloads its list itself. */
export const reloadLink = (uri: string, { console: { pools: text } }: Messages): Html =>
  html`<noscript><a class="card-link" id="live-reload" href="${linkAddress(uri)}">${text.reload}</a></noscript>`;

/** The part of the page that scripts reload. */
export function poolTable({
  pools,
  liveUri,
  messages,
}: Pick<PoolsView, "pools" | "liveUri" | "messages">): Html {
  const { pools: text } = messages.console;
  const says = pools.map(({ name, status }) => `${name}: ${text.poolStatus[status]}.`);
  return html`<div${livePiece(liveUri, says)}>${table({
    label: text.title,
    columns: [text.name, text.state, text.agents, text.waiting, text.signatures],
    rows: pools.map(({ id, name, algs, uri, status, agents, live, waiting, signed, failed }) => ({
      id: `pool-${id}`,
      cells: [
        nameCell({ name, uri, note: algs.join(", ") }),
        poolState(status, messages),
        text.liveOf({ count: live, max: agents }),
        messages.format.number(waiting),
        [
          messages.format.number(signed),
          failed > 0 && html` <span class="failed-count">${text.failedCount({ count: failed })}</span>`,
        ],
      ],
    })),
    messages,
  })}</div>
`;
}
