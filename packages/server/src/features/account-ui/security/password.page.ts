/** The page to change or set the password. Never shows the input again. */

import { banner } from "../../../html/components/banner.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { textField } from "../../../html/components/fields.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { breadcrumb } from "../change.page.ts";

export type PasswordView = ConsoleFrame & {
  csrf: string;
  action: string;
  backUri: string;
  hasPassword: boolean;
  minLength: number;
  /** The user came from activity they don't recognise. */
  reportsIntrusion: boolean;
  recoveryUri: string;
  failure?: FormFailure | undefined;
  fault?: PasswordFault | undefined;
};

export type PasswordFault = { id: "present" | "password"; text: string };

export function passwordPage(view: PasswordView): Html {
  const { messages, hasPassword } = view;
  const text = messages.console.account.password;
  const alarm = view.reportsIntrusion
    ? banner("hint", "password-alarm", text.notYou, text.notYouText)
    : undefined;
  return consoleLayout({
    ...view,
    title: hasPassword ? text.title : text.titleFirst,
    breadcrumbs: breadcrumb(view),
    notice: failureNotice(view.failure, messages) ?? alarm,
    body: html`<section class="card confirm">
<p>${text.text}</p>
${recordForm({
  id: "password-form",
  action: view.action,
  csrf: view.csrf,
  hidden: [{ name: "username", value: view.user.email }],
  fields: [hasPassword && currentPasswordField(view), newPasswordField(view)],
  submit: { id: "password-save", label: hasPassword ? text.submit : text.submitFirst },
  cancelUri: view.backUri,
  messages,
})}${hasPassword && html`<p><a class="alone" id="password-forgot" href="${linkAddress(view.recoveryUri)}">${text.forgot}</a></p>`}</section>
`,
  });
}

function currentPasswordField({ failure, fault, messages }: PasswordView): Html {
  const isWrong = fault?.id === "present";
  return textField({
    id: "present",
    label: messages.console.account.password.present,
    value: "",
    type: "password",
    isRequired: true,
    autocomplete: "current-password",
    fault: isWrong ? fault.text : undefined,
    hasFocus: failure === undefined || isWrong,
    messages,
  });
}

function newPasswordField({ messages, failure, fault, minLength, hasPassword }: PasswordView): Html {
  const isWrong = fault?.id === "password";
  return textField({
    id: "password",
    label: messages.console.account.password.next,
    value: "",
    type: "password",
    isRequired: true,
    autocomplete: "new-password",
    hint: messages.recovery.hint({ min: minLength }),
    fault: isWrong ? fault.text : undefined,
    hasFocus: isWrong || (!hasPassword && failure === undefined),
    messages,
  });
}
