/** Pages under one entry of the navigation, or the parts of one record: each has its own address. */
import { type Html, html, linkAddress } from "../html.ts";

export function tabs(view: {
  label: string;
  links: ReadonlyArray<{ id: string; label: string; uri: string; isCurrent: boolean; count?: number }>;
}): Html {
  return html`<nav class="tabs" aria-label="${view.label}"><ul>
${view.links.map(
  ({ id, label, uri, isCurrent, count }) =>
    html`<li><a id="${id}" href="${linkAddress(uri)}"${isCurrent && html` aria-current="page"`}>${label}${count !== undefined && html` <span class="count">${count}</span>`}</a></li>
`,
)}</ul></nav>
`;
}
