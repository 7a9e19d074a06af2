/** Pages to request a new email address. */

import { buttonLink } from "../../../html/components/button.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { textField } from "../../../html/components/fields.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import { breadcrumb } from "../change.page.ts";

export type NewAddressView = ConsoleFrame & {
  csrf: string;
  once: string;
  action: string;
  backUri: string;
  input: string;
  fault?: string | undefined;
  failure?: FormFailure | undefined;
};

export function newAddressPage(view: NewAddressView): Html {
  const text = view.messages.console.account.address;
  const field = {
    id: "newEmail",
    label: text.newEmail,
    value: view.input,
    type: "email",
    maxLength: 254,
    autocomplete: "email",
    isRequired: true,
    fault: view.fault,
    hasFocus: true,
    messages: view.messages,
  } as const;
  return consoleLayout({
    ...view,
    title: text.title,
    breadcrumbs: breadcrumb(view),
    notice: failureNotice(view.failure, view.messages),
    body: html`<section class="card confirm">
<p>${text.text({ email: view.user.email })}</p>
${recordForm({
  id: "new-address",
  action: view.action,
  csrf: view.csrf,
  once: view.once,
  fields: textField(field),
  submit: { id: "address-send", label: text.submit },
  cancelUri: view.backUri,
  messages: view.messages,
})}</section>
`,
  });
}

/** Doesn't reveal whether the address is taken. */
export function addressSentPage(view: ConsoleFrame & { backUri: string; newEmail: string }): Html {
  const text = view.messages.console.account.address;
  return consoleLayout({
    ...view,
    title: text.sentTitle,
    breadcrumbs: breadcrumb(view),
    body: html`<section class="card confirm">
<p id="address-sent">${text.sent({ email: view.newEmail })}</p>
<div class="actions">${buttonLink({ id: "address-back", uri: view.backUri, label: text.back })}</div></section>
`,
  });
}
