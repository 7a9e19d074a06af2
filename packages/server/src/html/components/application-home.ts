import { type Html, html, linkAddress } from "../html.ts";
import type { PageApplication } from "../layout.ts";
import { logo } from "./mark.ts";

/**
 * Under a heading that names an application: its logo and where it lives. The link's text is the host of its address
 * and nothing that the application chose, so that it cannot claim to be someone else's.
 */
export function applicationHome(application: PageApplication): Html | undefined {
  const image = logo(application.logoUri);
  const address = linkAddress(application.homepageUri);
  const host = address !== undefined && URL.canParse(address) ? new URL(address).host : undefined;
  if (image === undefined && host === undefined) return undefined;
  return html`<p class="app">${image}${host !== undefined && html`<a href="${address}">${host}</a>`}</p>
`;
}
