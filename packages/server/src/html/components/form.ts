import { type Html, html } from "../html.ts";
import { onceScript } from "../scripts.ts";

/** A value that a form carries along unseen. */
export type HiddenField = { name: string; value: string };

/** What every state-changing form carries: the token bound to the session, and the sealed request it goes on with. */
export type FormSeal = { csrf: string; flow: string };

export function hiddenFields(fields: readonly HiddenField[]): Html {
  return html`${fields.map((field) => html`<input type="hidden" name="${field.name}" value="${field.value}">\n`)}`;
}

export function sealFields(seal: FormSeal): Html {
  return hiddenFields([
    { name: "csrf", value: seal.csrf },
    { name: "flow", value: seal.flow },
  ]);
}

/** Within a form: the second click of a double click goes nowhere, so that what is seen is the answer to the first. */
export const sendsOnce: Html = html`<script src="${onceScript.path}" defer></script>
`;
