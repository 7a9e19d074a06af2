/** Account selection. */

import { applicationHome, avatar } from "../../../../html/components/avatar.ts";
import { type FormSeal, sealFields } from "../../../../html/components/form.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";

export type AccountView = SignInFrame &
  FormSeal & {
    action: string;
    user: { email: string; name?: string | undefined };
  };

/** `prompt=select_account` (OIDC Core §3.1.2.1): continue as the signed-in user, or as another. */
export function accountPage(view: AccountView): Html {
  const text = view.messages.account;
  const who = view.user.name ?? view.user.email;
  return signInLayout({
    ...view,
    title: text.title({ application: view.application.name }),
    body: html`<div class="title"><h1>${text.heading} <span>${text.headingTo({ application: view.application.name })}</span></h1>
${applicationHome(view.application)}</div>
<form method="post" action="${linkAddress(view.action)}">
${sealFields(view)}
<button class="person account" id="account-continue" type="submit" name="account" value="current">
${avatar(who, undefined, { isRound: true })}
<span class="person-text"><span class="person-name">${text.continueAs({ who })}</span>
${view.user.name !== undefined && html`<span class="quiet">${view.user.email}</span>`}</span>
</button>
<button class="button" id="account-other" type="submit" name="account" value="other">${text.other}</button>
</form>`,
  });
}
