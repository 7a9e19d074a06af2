/** Forms and hidden fields. */
import { type Html, html } from "../html.ts";
import { doubleSubmitScript } from "../scripts.ts";

export type HiddenField = { name: string; value: string };

/** The CSRF token, and the sealed authorization request that the form continues. */
export type FormSeal = { csrf: string; flow: string };

export function hiddenFields(fields: readonly HiddenField[]): Html {
  return html`${fields.map((field) => html`<input type="hidden" name="${field.name}" value="${field.value}">\n`)}`;
}

/** Hidden fields by their names. */
export const namedFields = (fields: Readonly<Record<string, string>>): Html =>
  hiddenFields(Object.entries(fields).map(([name, value]) => ({ name, value })));

export const sealFields = ({ csrf, flow }: FormSeal): Html => namedFields({ csrf, flow });

/** Ignores the second click of a double click, so that the response to the first one is shown. */
export const doubleSubmitGuard: Html = html`<script src="${doubleSubmitScript.path}" defer></script>
`;
