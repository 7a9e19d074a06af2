/** A form with its hidden fields and buttons, and the notices of a form that is shown again. */

import { type Content, type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { banner } from "./banner.ts";
import { doubleSubmitGuard, type HiddenField, hiddenFields } from "./form.ts";
import { timeWithin } from "./relative-time.ts";
import { saveBar } from "./save-bar.ts";

export type FormFailure =
  | { kind: "faults"; fields: ReadonlyArray<{ id: string; label: string }> }
  | { kind: "changed"; by?: { who: string; at: number } | undefined }
  | { kind: "expired" }
  /** Something in it was no text, and has been replaced by U+FFFD. */
  | { kind: "unreadable" }
  /** A duplicate submission: see page-kit/accept-form.ts. */
  | ({ kind: "sent" } & EarlierSubmission)
  | { kind: "refused"; title: string; text?: string };

export type EarlierSubmission = {
  /** Where the first submission's result is. */
  result?: { label: string; uri: string } | undefined;
  /** How to get another secret: the first response has shown it once. */
  secret?: string | undefined;
};

export function recordForm(view: {
  id: string;
  action: string;
  csrf: string;
  /** Of the record when the form was shown: see page-kit/record-version.ts. */
  version?: string | undefined;
  /** Of a form that creates or sends something: see page-kit/accept-form.ts. */
  once?: string | undefined;
  hidden?: readonly HiddenField[];
  /** What is typed is shown in a frame of the page: scripts/draft-preview.js. */
  isDraft?: boolean;
  hasFiles?: boolean;
  fields: Content;
  submit: { id: string; label: string; isDangerous?: boolean };
  more?: Content;
  cancelUri?: string | undefined;
  /**
   * Labels left, controls right, and buttons that stay in sight: by default every form of the console, and where end users edit
   * a record.
   */
  isWide?: boolean;
  isEndUserPage?: boolean | undefined;
  messages: Messages;
}): Html {
  const { id, csrf, version, once, hidden = [], submit, cancelUri } = view;
  const { form } = view.messages.console.frame;
  const own = [
    { name: "csrf", value: csrf },
    ...(version === undefined ? [] : [{ name: "seen", value: version }]),
  ];
  const buttons =
    () => html`<div class="actions"><button class="button ${submit.isDangerous ? "dangerous" : "primary"}" id="${submit.id}" type="submit">${submit.label}</button>
${view.more}${cancelUri !== undefined && html`<a class="button" id="${id}-cancel" href="${linkAddress(cancelUri)}">${form.cancel}</a>`}</div>
`;
  const isEdit = view.isWide ?? (version !== undefined || !view.isEndUserPage);
  return html`<form class="form${isEdit && " edit"}" id="${id}" method="post" action="${linkAddress(view.action)}" novalidate${view.hasFiles && html` enctype="multipart/form-data"`}${view.isDraft && html` data-draft`}>
${hiddenFields([...own, ...hidden])}${submissionTokenField(once)}${view.fields}
${isEdit ? saveBar({ ...view, isEdit: version !== undefined, cancel: cancelUri === undefined ? undefined : { id: `${id}-cancel`, uri: cancelUri } }) : buttons()}</form>
`;
}

/**
 * Of a form that makes something, its value (page-kit/accept-form.ts); of every form, what keeps a double click from sending it
 * twice: the second answer would tell of a password that is wrong by now, or of a record that somebody changed meanwhile.
 */
export const submissionTokenField = (once: string | undefined): Html =>
  html`${once !== undefined && hiddenFields([{ name: "once", value: once }])}${doubleSubmitGuard}`;

/** Faults are links to their fields. */
export function failureNotice(failure: FormFailure | undefined, messages: Messages): Html | undefined {
  const { form, changed, sentBefore } = messages.console.frame;
  switch (failure?.kind) {
    case undefined:
      return undefined;
    case "faults":
      return alert(form.failed, [
        html`<p>${form.faults({ count: failure.fields.length })}</p>`,
        html`<ul class="fault-links">${failure.fields.map(({ id, label }) => html`<li><a href="#${id}">${label}</a></li>`)}</ul>`,
      ]);
    case "changed":
      return alert(changed.title, [
        html`<p>${changed.text}</p>`,
        failure.by && html`<p>${changed.by({ who: failure.by.who, at: failure.by.at })}</p>`,
      ]);
    case "expired":
      return alert(form.expired, html`<p>${form.expiredText}</p>`);
    case "unreadable":
      return alert(form.unreadable, html`<p>${form.unreadableText}</p>`);
    case "sent":
      return alert(sentBefore.title, [
        html`<p>${sentBefore.text}</p>`,
        failure.secret !== undefined && html`<p>${failure.secret}</p>`,
        failure.result &&
          html`<p>${sentBefore.look} <a id="sent-before" href="${linkAddress(failure.result.uri)}"><bdi>${failure.result.label}</bdi></a></p>`,
      ]);
    case "refused":
      return alert(failure.title, failure.text !== undefined && html`<p>${failure.text}</p>`);
  }
}

const alert = (title: string, content: Content): Html => banner("error", "form-notice", title, content);

export const lastChangeLine = (
  change: { who: string; at: number } | undefined,
  messages: Messages,
): Html | undefined =>
  change &&
  html`<p class="quiet last-change" id="last-change">${timeWithin(messages.console.frame.lastChange(change), change.at, messages.format.minute)}</p>
`;
