/** What a portal link leads to before it is opened, and when it opens nothing any more. */
import { banner } from "../../../html/components/banner.ts";
import { doubleSubmitGuard, namedFields } from "../../../html/components/form.ts";
import { terminalPage } from "../../../html/components/terminal-page.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { type PageFrame, type PageOrganisation, signInLayout } from "../../../html/layout.ts";

export type PortalPageFrame = PageFrame & { readonly organisation?: PageOrganisation };

export function openPortalPage(
  frame: PortalPageFrame,
  view: {
    readonly organisation: string;
    readonly purposes: ReadonlyArray<"connections" | "domains" | "scim">;
    readonly minutes: number;
    /** The form was of another browser, or too old. */
    readonly isExpired: boolean;
    readonly csrf: string;
    readonly action: string;
  },
): Html {
  const { recovery } = frame.messages;
  const { portal } = frame.messages.console;
  const title = portal.open.title({ organisation: view.organisation });
  return signInLayout({
    ...frame,
    title,
    body: html`<div class="title"><h1>${title}</h1></div>
${view.isExpired && banner("hint", "portal-notice", recovery.expired, recovery.sendAgain)}
<p>${portal.open.text}</p>
<ul id="portal-purposes">${view.purposes.map((purpose) => html`<li>${portal.purposes[purpose]}</li>`)}</ul>
<form method="post" action="${linkAddress(view.action)}">${namedFields({ csrf: view.csrf })}
<button class="button primary" type="submit" id="portal-open">${portal.open.button}</button>
${doubleSubmitGuard}</form>
<p class="quiet">${portal.open.once({ minutes: view.minutes })}</p>`,
  });
}

export function brokenPortalPage(frame: PortalPageFrame): Html {
  const { broken } = frame.messages.console.portal;
  return terminalPage({
    ...frame,
    ...{ outcome: "failure", id: "portal-broken", title: broken.title, text: broken.text },
    action: { id: "portal-none", label: "", uri: undefined },
  });
}

export function portalEndedPage(frame: PortalPageFrame): Html {
  const { ended } = frame.messages.console.portal;
  return terminalPage({
    ...frame,
    ...{ outcome: "info", id: "portal-ended", title: ended.title, text: ended.text },
    action: { id: "portal-none", label: "", uri: undefined },
  });
}
