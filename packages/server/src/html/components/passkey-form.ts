/** The form that a passkey fills in. */
import { type Content, type Html, html, linkAddress } from "../html.ts";

export type PasskeyForm = {
  id: string;
  action: string;
  use: "get" | "create";
  /** JSON for `PublicKeyCredential.parse…OptionsFromJSON`. */
  options: string;
  /** Passkeys in the autofill of the email field. */
  conditional?: boolean | undefined;
  button: { id: string; text: string; primary: boolean };
  failed: string;
  fields: Content;
  after?: Content;
};

/** Filled by scripts/passkey.js; the button shows only where passkeys work. */
export function passkeyForm(form: PasskeyForm): Html {
  return html`<form id="${form.id}" method="post" action="${linkAddress(form.action)}" data-passkey="${form.use}" data-options="${form.options}"${form.conditional && html` data-conditional`}>
${form.fields}<input type="hidden" name="passkey" value="">
<p class="failed" role="alert" data-passkey-failed hidden>${form.failed}</p>
<button class="button${form.button.primary && html` primary`}" id="${form.button.id}" type="submit" data-passkey-button hidden>${form.button.text}</button>
${form.after}</form>
`;
}
