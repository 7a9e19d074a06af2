import { type Content, type Html, html, linkAddress } from "../html.ts";

export type PasskeyForm = {
  /** An id for the form; its own elements are named after it. */
  id: string;
  action: string;
  /** Ask for a passkey, or make one. */
  use: "get" | "create";
  /** JSON for `PublicKeyCredential.parse…OptionsFromJSON`. */
  options: string;
  /** Offer passkeys in the list under the email field as well. */
  conditional?: boolean | undefined;
  button: { id: string; text: string; primary: boolean };
  /** What is said when the browser comes back without a passkey. */
  failed: string;
  /** What stands before the button: hidden fields and others. */
  fields: Content;
  /** What stands after it. */
  after?: Content;
};

/** A form that scripts/passkey.js fills. Its button shows only where that works. */
export function passkeyForm(form: PasskeyForm): Html {
  return html`<form id="${form.id}" method="post" action="${linkAddress(form.action)}" data-passkey="${form.use}" data-options="${form.options}"${form.conditional && html` data-conditional`}>
${form.fields}<input type="hidden" name="passkey" value="">
<p class="failed" role="alert" data-passkey-failed hidden>${form.failed}</p>
<button class="button${form.button.primary && html` primary`}" id="${form.button.id}" type="submit" data-passkey-button hidden>${form.button.text}</button>
${form.after}</form>
`;
}
