/** An account that is there is linked to who has come from an identity provider once they have signed in to it. */
import { applicationHome, person } from "../../../../html/components/avatar.ts";
import { banner } from "../../../../html/components/banner.ts";
import { doubleSubmitGuard, namedFields } from "../../../../html/components/form.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";

export type LinkAccountView = SignInFrame & {
  readonly action: string;
  readonly csrf: string;
  readonly connection: { readonly name: string };
  readonly email: string;
  readonly error?: "other-account" | "session-expired" | undefined;
};

const NOTICE_ID = "link-account-notice";

function failureNotice({ error, email, messages }: LinkAccountView): Html | undefined {
  const { connections, recovery } = messages;
  const text = connections.linkAccount;
  if (error === undefined) return undefined;
  return error === "other-account"
    ? banner("error", NOTICE_ID, text.notLinked, text.otherAccount({ email }))
    : banner("hint", NOTICE_ID, recovery.expired, recovery.sendAgain);
}

export function linkAccountPage(view: LinkAccountView): Html {
  const { connections, recovery, signIn } = view.messages;
  const text = connections.linkAccount;
  const { application, email } = view;
  const names = { connection: view.connection.name, organisation: view.organisation.name, email };
  return signInLayout({
    ...view,
    title: text.heading,
    body: html`<div class="title"><h1 id="link-account">${text.heading} <span>${signIn.headingTo({ application: application.name })}</span></h1>
${applicationHome(application)}</div>
${failureNotice(view)}
${person(recovery.account, email)}
<p>${text.text(names)}</p>
<form method="post" action="${linkAddress(view.action)}">
${namedFields({ csrf: view.csrf })}
<button class="button primary" id="link-submit" type="submit" name="act" value="link">${text.submit}</button>
<button class="button" id="link-cancel" type="submit" name="act" value="cancel">${text.cancel}</button>
${doubleSubmitGuard}</form>`,
  });
}
