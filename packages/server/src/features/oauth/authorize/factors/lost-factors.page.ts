/** Pages for users who have lost every second factor. */

import { person } from "../../../../html/components/avatar.ts";
import { doubleSubmitGuard, type FormSeal, namedFields } from "../../../../html/components/form.ts";
import { terminalPage } from "../../../../html/components/terminal-page.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";

export type LostFactorsView = SignInFrame &
  FormSeal & { user: { email: string }; action: string; pending: string };

export function lostFactorsPage(view: LostFactorsView): Html {
  const { csrf, flow, pending, messages } = view;
  const { lost, signingInAs } = messages.twoFactor;
  return signInLayout({
    ...view,
    title: lost.heading,
    body: html`<h1>${lost.heading}</h1>
${person(signingInAs, view.user.email)}
<p>${lost.text({ organisation: view.organisation.name })}</p>
<p class="quiet">${lost.check}</p>
<form method="post" action="${linkAddress(view.action)}">
${namedFields({ csrf, flow, pending })}
<div class="choices">
<button class="button primary" id="lost-request" type="submit" name="lost" value="request">${lost.request}</button>
<button class="button" id="lost-back" type="submit" name="show" value="back">${lost.back}</button>
</div>
${doubleSubmitGuard}</form>`,
  });
}

export type ResetRequestedView = SignInFrame & { againUri: string };

export function resetRequestedPage(view: ResetRequestedView): Html {
  const { lost } = view.messages.twoFactor;
  const { name } = view.organisation;
  return terminalPage({
    ...view,
    outcome: "success",
    title: lost.sentHeading,
    text: html`<p id="lost-sent" role="status">${lost.sent({ organisation: name })}</p>`,
    action: { id: "lost-sign-in", label: lost.again, uri: view.againUri },
  });
}
