/** Pages behind the link of a sign-up: name, password and terms; and what has become of it. */
import type { Terms } from "../../../core/organisations/sign-up-settings.ts";
import { person } from "../../../html/components/avatar.ts";
import { banner } from "../../../html/components/banner.ts";
import { doubleSubmitGuard, type HiddenField, hiddenFields } from "../../../html/components/form.ts";
import { terminalPage, toAccount } from "../../../html/components/terminal-page.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { signInLayout } from "../../../html/layout.ts";
import { termsLink } from "../authorize/terms/terms.page.ts";
import { type NewPasswordFailure, passwordRefusal } from "../recovery/new-password.page.ts";
import { type RecoveryFrame, recoveryTitle } from "../recovery/recovery.page.ts";

export type CompletionFailure = NewPasswordFailure | "name" | "terms";

export type CompletionView = RecoveryFrame & {
  action: string;
  hidden: readonly HiddenField[];
  email: string;
  firstname: string;
  surname: string;
  terms: Terms | undefined;
  isTermsAccepted: boolean;
  /** None where the organisation has closed passwords. */
  password: { readonly leastLength: number; readonly mostLength: number } | undefined;
  error?: CompletionFailure | undefined;
  retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "sign-up-notice";

function failureNotice(view: CompletionView): Html | undefined {
  const { error, messages, retryAfterSeconds = 2 } = view;
  const text = messages.signUp;
  if (error === undefined) return undefined;
  if (error === "session-expired")
    return banner("hint", NOTICE_ID, messages.recovery.expired, text.typeAgain);
  const reason = error === "name" ? text.nameFault : error === "terms" ? text.termsFault : undefined;
  const limits = view.password ?? { leastLength: 0, mostLength: 0 };
  const told =
    reason ??
    passwordRefusal(messages.recovery, error as NewPasswordFailure, limits) ??
    text.busy({ seconds: retryAfterSeconds });
  return banner("error", NOTICE_ID, text.notCreated, told);
}

const isPasswordFault = (error: CompletionFailure | undefined): boolean =>
  error !== undefined && !["name", "terms", "busy", "session-expired"].includes(error);

const faults = (isWrong: boolean): Html | false =>
  isWrong && html` aria-invalid="true" aria-describedby="${NOTICE_ID}"`;

function nameField(view: CompletionView, name: "firstname" | "surname"): Html {
  const autocomplete = name === "firstname" ? "given-name" : "family-name";
  const isWrong = view.error === "name" && view[name].trim() === "";
  const autofocus = name === "firstname" && view.error === undefined && html` autofocus`;
  return html`<div class="field">
<label for="${name}">${view.messages.signUp[name]}</label>
<input id="${name}" name="${name}" type="text" value="${view[name]}" autocomplete="${autocomplete}" maxlength="100" required${faults(isWrong)}${autofocus}>
</div>
`;
}

function passwordField({ messages, password, error }: CompletionView): Html | undefined {
  if (!password) return undefined;
  const isWrong = isPasswordFault(error);
  const described = isWrong ? `${NOTICE_ID} sign-up-hint` : "sign-up-hint";
  return html`<div class="field">
<label for="password">${messages.signUp.password}</label>
<input id="password" name="password" type="password" autocomplete="new-password" required${isWrong && html` aria-invalid="true" autofocus`} aria-describedby="${described}">
<p class="after quiet" id="sign-up-hint">${messages.recovery.hint({ min: password.leastLength })}</p>
</div>
`;
}

function termsBox({ messages, terms, isTermsAccepted, error }: CompletionView): Html | undefined {
  if (!terms) return undefined;
  return html`<div class="check">
<input id="terms-accept" name="terms-accept" type="checkbox" value="yes" required${isTermsAccepted && html` checked`}${faults(error === "terms")}>
<label for="terms-accept">${messages.terms.accept} ${termsLink(terms, messages.terms.link({ version: terms.version }))}</label>
</div>
`;
}

export function completionPage(view: CompletionView): Html {
  const { signUp, action } = view.messages;
  return signInLayout({
    ...view,
    title: signUp.heading,
    body: html`${recoveryTitle(view, signUp.heading)}
${failureNotice(view)}
${person(action.account, view.email)}
<p>${signUp.completeText}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.hidden)}
<input type="text" value="${view.email}" autocomplete="username" readonly hidden>
${nameField(view, "firstname")}${nameField(view, "surname")}${passwordField(view)}${termsBox(view)}<button class="button primary" id="sign-up-complete" type="submit">${signUp.complete}</button>
${doubleSubmitGuard}</form>`,
  });
}

export type SignUpStateView = RecoveryFrame & {
  state: "created" | "waiting" | "rejected";
  email: string;
};

export function signUpStatePage(view: SignUpStateView): Html {
  const { state, email, organisation, messages } = view;
  const text = messages.signUp;
  const names = { email, organisation: organisation.name };
  switch (state) {
    case "created":
      return terminalPage({
        ...{ ...view, outcome: "success", title: text.createdHeading, id: "sign-up-created" },
        text: text.created(names),
        action: toAccount(organisation, messages.frame.signIn),
      });
    case "waiting":
      return terminalPage({
        ...{ ...view, outcome: "info", title: text.waitingHeading, id: "sign-up-waiting" },
        text: html`<p role="status">${text.waiting(names)}</p>`,
        action: { id: "none", label: "", uri: undefined },
      });
    case "rejected":
      return terminalPage({
        ...{ ...view, outcome: "failure", title: text.rejectedHeading, id: "sign-up-rejected" },
        text: text.rejected(names),
        action: { id: "none", label: "", uri: undefined },
      });
  }
}
