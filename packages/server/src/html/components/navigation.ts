/** The navigation beside the content; a drawer on a narrow screen. It is a popover, which needs no script. */
import { type Html, html, linkAddress } from "../html.ts";
import type { ConsoleFrame, NavSection } from "./console-view.ts";
import { icon } from "./icons.ts";
import { ringMark } from "./ring-mark.ts";

export function navigationMenu(view: ConsoleFrame): Html {
  const { label, sections } = view.navigation;
  const { closeMenu } = view.messages.console.frame;
  return html`<nav class="menu" id="menu" popover aria-label="${label}"><div class="menu-inside">
<div class="menu-top">${ringMark}<span class="wordmark">${view.messages.product}</span><button class="icon-button" id="menu-close" type="button" popovertarget="menu" popovertargetaction="hide" aria-label="${closeMenu}">${icon("close")}</button></div>
${sections.map(navSection)}</div></nav>`;
}

function navSection({ heading, isLast, links }: NavSection, index: number): Html {
  const list = links.map(
    ({ id, label, uri, isCurrent, icon: name, count = 0 }) =>
      html`<li><a id="nav-${id}" href="${linkAddress(uri)}"${isCurrent && html` aria-current="page"`}>${icon(name)}${label}${count > 0 && html` <span class="count">${count}</span>`}</a></li>
`,
  );
  const own = isLast && html` class="menu-last"`;
  if (heading === undefined) return html`<ul${own}>${list}</ul>`;
  return html`<p class="menu-heading" id="menu-${index}">${heading}</p>
<ul${own} aria-labelledby="menu-${index}">${list}</ul>
`;
}
