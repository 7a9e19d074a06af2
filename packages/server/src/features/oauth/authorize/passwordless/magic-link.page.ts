/** What an emailed sign-in link leads to: a button in the browser that has asked for it, the code in every other. */
import { applicationHome, person } from "../../../../html/components/avatar.ts";
import { banner } from "../../../../html/components/banner.ts";
import { doubleSubmitGuard, namedFields } from "../../../../html/components/form.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import type { PageFrame, PageOrganisation, SignInFrame } from "../../../../html/layout.ts";
import { signInLayout } from "../../../../html/layout.ts";

export type MagicLinkView = SignInFrame & {
  readonly action: string;
  readonly csrf: string;
  readonly email: string;
  readonly error?: "session-expired" | undefined;
};

const NOTICE_ID = "magic-link-notice";

export function magicLinkPage(view: MagicLinkView): Html {
  const { application, messages } = view;
  const { signInCode: text, recovery, signIn, twoFactor } = messages;
  const title = signIn.title({ application: application.name });
  return signInLayout({
    ...view,
    title,
    body: html`<div class="title"><h1>${title}</h1>
${applicationHome(application)}</div>
${view.error !== undefined && banner("hint", NOTICE_ID, recovery.expired, recovery.sendAgain)}
${person(twoFactor.signingInAs, view.email)}
<form method="post" action="${linkAddress(view.action)}">
${namedFields({ csrf: view.csrf })}
<button class="button primary" id="magic-link-continue" type="submit" autofocus>${signIn.submit({ application: application.name })}</button>
${doubleSubmitGuard}</form>
<p class="quiet">${text.notAsked}</p>`,
  });
}

export type MagicCodeView = PageFrame & {
  readonly organisation: PageOrganisation;
  readonly code: string;
};

/** Whoever began the sign-in types it there: a link that was forwarded signs nobody else in. */
export function magicCodePage(view: MagicCodeView): Html {
  const text = view.messages.signInCode;
  return signInLayout({
    ...view,
    title: text.elsewhereHeading,
    body: html`<h1>${text.elsewhereHeading}</h1>
<p>${text.elsewhere({ organisation: view.organisation.name })}</p>
<p class="shown-code"><output id="magic-link-code">${view.code}</output></p>
<p class="quiet">${text.notShared}</p>`,
  });
}
