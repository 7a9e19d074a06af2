/** What a whole is made of: one bar of its parts, and the parts with their numbers, which is its table. */
import { type Html, html, linkAddress } from "../../html.ts";
import type { Messages } from "../../messages/messages.ts";
import { badge } from "../badge.ts";

export type Share = { id: string; label: string; value: number; tone: "good" | "warn" | "bad"; uri: string };

/** @param view.none said instead of an empty bar */
export function shares(view: { parts: readonly Share[]; none: string; messages: Messages }): Html {
  const { parts, messages } = view;
  const all = parts.reduce((sum, { value }) => sum + value, 0);
  if (all === 0) return html`<p class="quiet">${view.none}</p>`;
  const percent = (value: number) => Math.round((value / all) * 10_000) / 100;
  const share = new Intl.NumberFormat(messages.locale, { style: "percent", maximumFractionDigits: 1 });
  let at = 0;
  const segment = ({ value, tone }: Share) => {
    const from = at;
    at += percent(value);
    return value > 0 && html`<rect class="${tone}" x="${from}%" width="${percent(value)}%" height="100%"/>`;
  };
  const row = ({ id, label, value, tone, uri }: Share) =>
    html`<tr><th scope="row"><a id="${id}" href="${linkAddress(uri)}">${badge(tone, label)}</a></th><td>${messages.format.number(value)}</td><td class="quiet">${share.format(value / all)}</td></tr>
`;
  return html`<svg class="shares-bar" aria-hidden="true">${parts.map(segment)}</svg>
<table class="shares"><tbody>
${parts.map(row)}</tbody></table>
`;
}
