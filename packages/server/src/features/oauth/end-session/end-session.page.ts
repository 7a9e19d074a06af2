/** Sign-out: confirmation and result. */

import { person } from "../../../html/components/avatar.ts";
import { banner } from "../../../html/components/banner.ts";
import { type HiddenField, hiddenFields } from "../../../html/components/form.ts";
import { terminalPage, toAccount } from "../../../html/components/terminal-page.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import {
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
  signInLayout,
} from "../../../html/layout.ts";

/** For whoever connects the application; the user is signed out without the hint as well. */
const invalidHint = ({
  isHintInvalid,
  messages: { signOut },
}: EndSessionView | SignedOutView): Html | false =>
  isHintInvalid === true && banner("hint", "hint-invalid", signOut.hintInvalid, signOut.hintInvalidText);

export type EndSessionView = PageFrame & {
  organisation: PageOrganisation;
  application?: PageApplication | undefined;
  /** The requested address is not registered for the application. */
  isUnregistered?: boolean;
  isHintInvalid?: boolean | undefined;
  user: { email: string };
  action: string;
  csrf: string;
  /** The request's parameters, repeated by the POST. */
  fields?: readonly HiddenField[] | undefined;
  stayUri?: string | undefined;
};

/** OpenID Connect RP-Initiated Logout 1.0 §6: without a valid hint the user confirms the sign-out. */
export function endSessionPage(view: EndSessionView): Html {
  const text = view.messages.signOut;
  const heading = text.heading({ organisation: view.organisation.name });
  const stay = linkAddress(view.stayUri);
  return signInLayout({
    ...view,
    title: heading,
    body: html`<h1>${heading}</h1>
${person(text.signedInAs, view.user.email)}
${invalidHint(view)}${unregistered(view)}
<p class="quiet">${view.application && text.askedBy({ application: view.application.name })} ${text.explanation}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields([{ name: "csrf", value: view.csrf }, ...(view.fields ?? [])])}
<div class="choices">
<button class="button primary" id="logout-confirm" type="submit">${text.confirm}</button>
${stay !== undefined && html`<a class="button" href="${stay}">${text.stay}</a>`}
</div>
</form>`,
  });
}

export type UpstreamSignOutView = PageFrame & {
  organisation: PageOrganisation;
  connection: { name: string };
  address: string;
};

/** Leads on by itself, and by a link where it does not. */
export function upstreamSignOutPage(view: UpstreamSignOutView): Html {
  const text = view.messages.signOut;
  const names = { connection: view.connection.name };
  return terminalPage({
    ...view,
    outcome: "success",
    title: text.doneHeading,
    text: html`<p class="quiet">${text.upstream(names)}</p>`,
    action: { id: "to-connection", label: text.toUpstream(names), uri: view.address },
  });
}

export type SignedOutView = PageFrame & {
  organisation: PageOrganisation;
  application?: PageApplication | undefined;
  isUnregistered?: boolean;
  isHintInvalid?: boolean | undefined;
};

/** Without the address: anyone can write one into the link that leads here. */
function unregistered({ application, isUnregistered, messages }: SignedOutView): Html | undefined {
  if (!isUnregistered || !application) return undefined;
  const text = messages.signOut.unregistered({ application: application.name });
  return banner("hint", "address-unregistered", text);
}

/** The end of a sign-out without a redirect, also for a user who wasn't signed in. */
export function signedOutPage(view: SignedOutView): Html {
  const text = view.messages.signOut;
  const { application, messages, organisation } = view;
  const home = linkAddress(application?.homepageUri);
  return terminalPage({
    ...view,
    outcome: "success",
    title: text.doneHeading,
    text: html`${invalidHint(view)}${unregistered(view)}
<p class="quiet">${text.done({ organisation: organisation.name })}</p>`,
    action:
      application !== undefined && home !== undefined
        ? { id: "to-application", label: text.back({ application: application.name }), uri: home }
        : toAccount(organisation, messages.frame.signIn),
  });
}
