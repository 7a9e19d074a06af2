/** The consent page. */

import { applicationHome, avatar } from "../../../../html/components/avatar.ts";
import { type DetailText, detailList } from "../../../../html/components/detail-list.ts";
import { type FormSeal, hiddenFields, sealFields } from "../../../../html/components/form.ts";
import { ringMark } from "../../../../html/components/ring-mark.ts";
import { type ScopeText, scopeList } from "../../../../html/components/scope-list.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";

export type ConsentView = SignInFrame &
  FormSeal & {
    action: string;
    user: { email: string };
    scopes: readonly ScopeText[];
    details: readonly DetailText[];
    asked: string;
    /** The host of the redirect URI, e.g. `app.example.com`. */
    redirectHost: string;
    otherAccountUri: string;
    /** Nobody has registered the application by hand: it is known by this host, or has registered itself. */
    unreviewed?: { readonly host?: string } | undefined;
  };

export function consentPage(view: ConsentView): Html {
  const text = view.messages.consent;
  const heading = text.heading({ application: view.application.name });
  return signInLayout({
    ...view,
    title: heading,
    emblem: parties(view),
    body: html`${consentTitle(view, heading)}${unreviewedNotice(view)}
${view.details.length > 0 && detailsPanel(view)}
<div class="panel"><h2 id="scopes-title">${text.listTitle}</h2>
${scopeList(view.scopes, view.messages, "scopes-title")}</div>
<form method="post" action="${linkAddress(view.action)}">
${sealFields(view)}${hiddenFields([{ name: "asked", value: view.asked }])}
<div class="choices">
<button class="button" id="consent-deny" type="submit" name="decision" value="deny">${text.deny}</button>
<button class="button primary" id="consent-allow" type="submit" name="decision" value="allow">${text.allow}</button>
</div>
</form>
<div class="quiet after"><p>${text.goesTo} <bdi class="host">${view.redirectHost}</bdi></p>
${lasting(view)}</div>`,
  });
}

/** First, because it is what the user has come to decide. */
const detailsPanel = ({ details, messages }: Pick<ConsentView, "details" | "messages">): Html =>
  html`<div class="panel"><h2 id="details-title">${messages.consent.detailsTitle}</h2>
${detailList(details, "details-title")}</div>`;

/** Whether the question comes again. */
function lasting({ details, unreviewed, messages: { consent: text } }: ConsentView): Html | false {
  if (details.length > 0) return html`<p>${text.eachTime}</p>`;
  return unreviewed === undefined && html`<p>${text.remembered}</p>`;
}

/** Its name and logo are its own claim; its host is what the user can judge by. */
function unreviewedNotice({
  unreviewed,
  organisation,
  messages: { consent: text },
}: ConsentView): Html | false {
  if (unreviewed === undefined) return false;
  const { host } = unreviewed;
  const said = { organisation: organisation.name };
  if (host === undefined)
    return html`<p class="unreviewed" id="client-unreviewed">${text.bySelf(said)}</p>
`;
  return html`<div class="unreviewed" id="client-unreviewed"><p class="client-host"><bdi id="client-host">${host}</bdi></p>
<p class="quiet">${text.byAddress(said)}</p></div>
`;
}

/** Who asks for what is whose: application, Signet, user. */
const parties = ({ application, user }: Pick<ConsentView, "application" | "user">): Html =>
  html`<div class="parties" aria-hidden="true">${avatar(application.name, application.logoUri, { size: "large" })}${ringMark}${avatar(user.email, undefined, { size: "large", isRound: true })}</div>`;

/** The heading, and who is signed in. */
function consentTitle(
  { application, user, messages, otherAccountUri }: Omit<ConsentView, "redirectHost" | "asked" | "details">,
  heading: string,
): Html {
  const { signedInAs, switchAccount } = messages.consent;
  return html`<div class="title"><h1>${heading}</h1>
${applicationHome({ homepageUri: application.homepageUri })}
<p class="signed-in quiet">${signedInAs} <bdi>${user.email}</bdi><br>
<a class="alone" href="${linkAddress(otherAccountUri)}">${switchAccount}</a></p></div>`;
}

/** Admin consent is required: tells the user whom to ask, and leads back to the application. */
export function administratorConsentPage(
  view: Omit<ConsentView, "redirectHost" | "asked" | "details">,
): Html {
  const { administratorConsent: text } = view.messages;
  const heading = text.heading({ application: view.application.name });
  const explanation = text.explanation({
    organisation: view.organisation.name,
    application: view.application.name,
  });
  return signInLayout({
    ...view,
    title: heading,
    emblem: parties(view),
    body: html`${consentTitle(view, heading)}
<div class="panel"><p id="scopes-title">${explanation}</p>
${scopeList(view.scopes, view.messages, "scopes-title")}</div>
<form method="post" action="${linkAddress(view.action)}">
${sealFields(view)}
<button class="button" id="consent-deny" type="submit" name="decision" value="deny">${text.back({ application: view.application.name })}</button>
</form>`,
  });
}
