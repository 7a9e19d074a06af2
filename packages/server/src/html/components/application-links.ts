/** Applications, each a link to its page. */
import { type Content, type Html, html, linkAddress } from "../html.ts";

/** @param more a last entry */
export const applicationLinks = (
  applications: ReadonlyArray<{ id: string; name: string }>,
  consoleUri: (rest: string) => string,
  more?: Content,
): Html =>
  html`<ul class="plain-list">${applications.map(
    ({ id, name }) =>
      html`<li><a href="${linkAddress(consoleUri(`/applications/${id}`))}"><bdi>${name}</bdi></a></li>`,
  )}${more}</ul>
`;
