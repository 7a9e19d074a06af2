/** Pages under one entry of the navigation. */
import { type Html, html, linkAddress } from "../html.ts";

export function tabs(view: {
  label: string;
  links: ReadonlyArray<{ id: string; label: string; uri: string; isCurrent: boolean }>;
}): Html {
  return html`<nav class="tabs" aria-label="${view.label}"><ul>
${view.links.map(
  ({ id, label, uri, isCurrent }) =>
    html`<li><a id="${id}" href="${linkAddress(uri)}"${isCurrent && html` aria-current="page"`}>${label}</a></li>
`,
)}</ul></nav>
`;
}
