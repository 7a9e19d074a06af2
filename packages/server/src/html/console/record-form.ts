/** A form on one record: its hidden fields, its buttons, and what is said when it comes back. */
import { type HiddenField, hiddenFields } from "../form.ts";
import { type Content, type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";

/** Why a form is shown again; what was typed is in it. */
export type FormFailure =
  /** Fields by id, in the order of the page, with their labels. */
  | { kind: "faults"; fields: ReadonlyArray<{ id: string; label: string }> }
  /** Somebody else changed the record meanwhile. */
  | { kind: "changed"; by?: { who: string; at: number } | undefined }
  | { kind: "expired" }
  /** Anything else, in its own words. */
  | { kind: "refused"; title: string; text?: string };

export function recordForm(view: {
  id: string;
  action: string;
  csrf: string;
  /** What the record was like when the form was made: see `seenOf`. */
  seen?: string | undefined;
  hidden?: readonly HiddenField[];
  fields: Content;
  submit: { id: string; label: string; isDangerous?: boolean };
  /** Other buttons, after the first one. */
  more?: Content;
  cancelUri?: string | undefined;
  messages: Messages;
}): Html {
  const { id, csrf, seen, hidden = [], submit, cancelUri } = view;
  const { form } = view.messages.console.frame;
  const own = [{ name: "csrf", value: csrf }, ...(seen === undefined ? [] : [{ name: "seen", value: seen }])];
  return html`<form class="form" id="${id}" method="post" action="${linkAddress(view.action)}" novalidate>
${hiddenFields([...own, ...hidden])}${view.fields}
<div class="actions"><button class="button ${submit.isDangerous ? "dangerous" : "primary"}" id="${submit.id}" type="submit">${submit.label}</button>
${view.more}${cancelUri !== undefined && html`<a class="button" id="${id}-cancel" href="${linkAddress(cancelUri)}">${form.cancel}</a>`}</div>
</form>
`;
}

/** The notice above the page. Faults are links to their fields. */
export function failureNotice(failure: FormFailure | undefined, messages: Messages): Html | undefined {
  const { form, changed } = messages.console.frame;
  switch (failure?.kind) {
    case undefined:
      return undefined;
    case "faults":
      return alert(form.failed, [
        html`<p>${form.faults(failure.fields.length)}</p>`,
        html`<ul class="fault-links">${failure.fields.map(({ id, label }) => html`<li><a href="#${id}">${label}</a></li>`)}</ul>`,
      ]);
    case "changed":
      return alert(changed.title, [
        html`<p>${changed.text}</p>`,
        failure.by && html`<p>${changed.by(failure.by.who, failure.by.at)}</p>`,
      ]);
    case "expired":
      return alert(form.expired, html`<p>${form.expiredText}</p>`);
    case "refused":
      return alert(failure.title, failure.text !== undefined && html`<p>${failure.text}</p>`);
  }
}

const alert = (
  title: string,
  content: Content,
): Html => html`<div class="notice error" id="form-notice" role="alert">
<p class="notice-title">${title}</p>
${content}</div>
`;

/** What a page says of the thing that was just done. */
export const doneNotice = (text: string): Html =>
  html`<div class="notice hint" id="done-notice" role="status"><p class="notice-title">${text}</p></div>
`;

/** Who changed a record last, and when. */
export const lastChangeLine = (
  change: { who: string; at: number } | undefined,
  messages: Messages,
): Html | undefined =>
  change &&
  html`<p class="quiet last-change" id="last-change">${messages.console.frame.lastChange(change.who, change.at)}</p>
`;
