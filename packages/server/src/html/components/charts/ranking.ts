/** Named amounts, the largest first, each with a bar: a list that is read like a table. */
import { type Html, html, linkAddress } from "../../html.ts";
import type { Messages } from "../../messages/messages.ts";
import type { SeriesTone } from "./chart.ts";

/** @param tone of its bar, where a chart above has the same colours */
export type Ranked = { label: string; value: number; id?: string; uri?: string; tone?: SeriesTone };

export type RankingView = {
  entries: readonly Ranked[];
  /** What the others have together. */
  rest: Ranked;
  /** Said instead of an empty list. */
  none: string;
  messages: Messages;
};

/** The bars are drawn as shares of the largest value. */
export function ranking({ entries, rest, none, messages }: RankingView): Html {
  const all = rest.value > 0 ? [...entries, rest] : entries;
  if (all.length === 0) return html`<p class="quiet">${none}</p>`;
  const largest = Math.max(1, ...all.map(({ value }) => value));
  const bar = (value: number, tone: SeriesTone = "plain") =>
    html`<svg class="ranking-bar chart-${tone}" aria-hidden="true"><rect width="${Math.round((value / largest) * 1000) / 10}%" height="100%" rx="2"/></svg>`;
  const item = ({ label, value, id, uri, tone }: Ranked) => {
    const name = html`<bdi>${label}</bdi>`;
    return html`<li><span class="ranking-name">${
      uri === undefined ? name : html`<a id="${id}" href="${linkAddress(uri)}">${name}</a>`
    }</span><span class="ranking-value">${messages.format.number(value)}</span>${bar(value, tone)}</li>
`;
  };
  return html`<ol class="ranking">${all.map(item)}</ol>
`;
}
