/** The form that a passkey fills in. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import { icon } from "./icons.ts";

export type PasskeyForm = {
  id: string;
  action: string;
  use: "get" | "create";
  /** JSON for `PublicKeyCredential.parse…OptionsFromJSON`. */
  options: string;
  /** Passkeys in the autofill of the email field. */
  conditional?: boolean | undefined;
  button: { id: string; text: string; primary: boolean };
  /** Without the script, which is there to look at only. */
  isShown?: boolean;
  failed: string;
  /** Between the form before and this button: `or`. */
  divider?: string | undefined;
  fields: Content;
  after?: Content;
};

/** Filled by scripts/passkey.js; the button shows only where passkeys work. */
export function passkeyForm(form: PasskeyForm): Html {
  const hidden = !form.isShown && html` hidden`;
  return html`<form id="${form.id}" method="post" action="${linkAddress(form.action)}" data-passkey="${form.use}" data-options="${form.options}"${form.conditional && html` data-conditional`}>
${form.fields}<input type="hidden" name="passkey" value="">
${form.divider !== undefined && html`<p class="or" data-passkey-divider${hidden}>${form.divider}</p>\n`}<p class="failed" role="alert" data-passkey-failed hidden>${form.failed}</p>
<button class="button${form.button.primary && html` primary`}" id="${form.button.id}" type="submit" data-passkey-button${hidden}>${icon("passkey")}${form.button.text}</button>
${form.after}</form>
`;
}

/** WebAuthn Level 3 §5.1.10: what is signalled to the browser, by the name of its method. */
export type PasskeySignals = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Read by scripts/passkey.js, where the browser has these methods; nothing to see. */
export const passkeySignals = (signals: PasskeySignals): Html =>
  html`<div hidden data-passkey-signals="${JSON.stringify(signals)}"></div>`;
