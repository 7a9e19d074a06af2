/** "⋯" beside a record's buttons: what is done with it more rarely. A popover, which needs no script. */
import { type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { icon } from "./icons.ts";

export type OverflowItem = {
  id: string;
  label: string;
  uri: string;
  /** See `buttonLink`. */
  isQuestion?: boolean;
  /** These come last. */
  isDangerous?: boolean;
};

/** One on a page. */
export function overflowMenu(items: readonly OverflowItem[], { console: { frame } }: Messages): Html | false {
  if (items.length === 0) return false;
  const sorted = [
    ...items.filter(({ isDangerous }) => !isDangerous),
    ...items.filter(({ isDangerous }) => isDangerous),
  ];
  const item = ({ id, label, uri, isQuestion, isDangerous }: OverflowItem) =>
    html`<li><a id="${id}" href="${linkAddress(uri)}"${isDangerous && html` class="failed"`}${isQuestion && html` data-dialog`}>${label}</a></li>
`;
  return html`<button class="button overflow-open" id="more-open" type="button" popovertarget="more" aria-label="${frame.moreActions}">${icon("more")}</button>
<div class="drop overflow" id="more" popover><ul>
${sorted.map(item)}</ul></div>
`;
}
