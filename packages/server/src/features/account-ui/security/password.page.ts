/** The page to change or set the password. Never shows the input again. */
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { textField } from "../../../html/components/fields.ts";
import { notice } from "../../../html/components/notice.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { breadcrumb } from "../change.page.ts";

type Fault = keyof Messages["recovery"]["refused"];

export type PasswordFailure =
  | { kind: "expired" | "unreadable" | "wrong-password" | "same-password" }
  | { kind: "refused"; fault: Fault }
  | { kind: "limited" | "busy"; waitSeconds: number };

export type PasswordView = ConsoleFrame & {
  csrf: string;
  action: string;
  backUri: string;
  hasPassword: boolean;
  minLength: number;
  maxLength: number;
  /** The user came from activity they don't recognise. */
  reportsIntrusion: boolean;
  /** For a forgotten password. */
  recoveryUri: string;
  failure?: PasswordFailure | undefined;
};

export function passwordPage(view: PasswordView): Html {
  const { messages, hasPassword } = view;
  const text = messages.console.account.password;
  const alarm = view.reportsIntrusion
    ? notice("hint", "password-alarm", text.notYou, text.notYouText)
    : undefined;
  return consoleLayout({
    ...view,
    title: hasPassword ? text.title : text.titleFirst,
    breadcrumbs: breadcrumb(view),
    notice: failureNotice(formFailure(view), messages) ?? alarm,
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

function currentPasswordField({ failure, messages }: PasswordView): Html {
  const text = messages.console.account.password;
  const isWrong = failure?.kind === "wrong-password";
  return textField({
    id: "present",
    label: text.present,
    value: "",
    type: "password",
    isRequired: true,
    autocomplete: "current-password",
    fault: isWrong ? text.wrong : undefined,
    hasFocus: failure === undefined || isWrong,
    messages,
  });
}

function newPasswordField(view: PasswordView): Html {
  const { messages, failure } = view;
  const fault = newPasswordFault(view);
  return textField({
    id: "password",
    label: messages.console.account.password.next,
    value: "",
    type: "password",
    isRequired: true,
    autocomplete: "new-password",
    hint: messages.recovery.hint({ min: view.minLength }),
    fault,
    hasFocus: fault !== undefined || (!view.hasPassword && failure === undefined),
    messages,
  });
}

function newPasswordFault({ failure, messages, minLength, maxLength }: PasswordView): string | undefined {
  if (failure?.kind === "same-password") return messages.console.account.password.same;
  if (failure?.kind !== "refused") return undefined;
  const { refused } = messages.recovery;
  if (failure.fault === "too-short") return refused["too-short"]({ min: minLength });
  return failure.fault === "too-long" ? refused["too-long"]({ max: maxLength }) : refused[failure.fault];
}

function formFailure({ failure, messages }: PasswordView): FormFailure | undefined {
  const text = messages.console.account.password;
  const { notChanged } = messages.recovery;
  switch (failure?.kind) {
    case undefined:
      return undefined;
    case "expired":
    case "unreadable":
      return { kind: failure.kind };
    case "limited":
    case "busy":
      return {
        kind: "refused",
        title: notChanged,
        text: text[failure.kind]({ seconds: failure.waitSeconds }),
      };
    case "wrong-password":
      return { kind: "faults", fields: [{ id: "present", label: text.present }] };
    default:
      return { kind: "faults", fields: [{ id: "password", label: text.next }] };
  }
}
