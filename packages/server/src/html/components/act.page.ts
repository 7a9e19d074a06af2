/** Pages before and after an action: confirmation, waiting for a new sign-in, a secret shown once. */

import { type Content, type Html, html, linkAddress } from "../html.ts";
import { banner } from "./banner.ts";
import { codeBlock } from "./code-block.ts";
import { type ConsoleFrame, type ConsoleView, consoleLayout } from "./console-layout.ts";
import { copyStatus } from "./copy-field.ts";
import { dialogContent } from "./dialog.ts";
import { textField } from "./fields.ts";
import { type HiddenField, hiddenFields } from "./form.ts";
import { type FormFailure, failureNotice, submissionTokenField } from "./record-form.ts";
import { secretReveal } from "./secret-reveal.ts";

export type ConfirmActView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    csrf: string;
    action: string;
    heading: string;
    text: Content;
    confirm: string;
    confirmId: string;
    /** Has to be typed into the field `name` when the action can't be undone. */
    name?: string | undefined;
    typedName?: string | undefined;
    isWrongName?: boolean;
    isHarmless?: boolean;
    backUri: string;
    /** Submission token of a repeatable action: see page-kit/accept-form.ts. */
    once?: string | undefined;
    fields?: Content;
    failure?: FormFailure | undefined;
  };

export function confirmActPage(view: ConfirmActView): Html {
  const { confirm } = view.messages.console.frame;
  const { name, typedName = "", isWrongName = false } = view;
  return consoleLayout({
    ...view,
    title: view.heading,
    notice: failureNotice(view.failure, view.messages),
    body: dialogContent(
      html`<div class="prose">${view.text}</div>
<form class="form" method="post" action="${linkAddress(view.action)}" novalidate>
${hiddenFields([{ name: "csrf", value: view.csrf }])}${submissionTokenField(view.once)}${view.fields}${
  name !== undefined &&
  textField({
    id: "name",
    label: confirm.typeName({ name }),
    value: typedName,
    fault: isWrongName ? confirm.wrongName : undefined,
    hasFocus: true,
    messages: view.messages,
  })
}
<div class="actions"><button class="button ${view.isHarmless ? "primary" : "dangerous"}" id="${view.confirmId}" type="submit">${view.confirm}</button>
<a class="button" id="act-cancel" href="${linkAddress(view.backUri)}">${view.messages.console.frame.form.cancel}</a></div>
</form>`,
      !view.isHarmless,
    ),
  });
}

/** Secrets that are shown once, each with a copy button. The page is not cached (`cache-control: no-store`). */
export function shownOncePage(
  view: ConsoleFrame &
    Pick<ConsoleView, "breadcrumbs"> & {
      title: string;
      text: Content;
      /** A secret of one line is masked, and can be saved under the name of its `variable`; the others are blocks to copy. */
      values: ReadonlyArray<{
        id: string;
        title: string;
        lines: string;
        isSecret?: boolean;
        variable?: string;
      }>;
      doneUri: string;
    },
): Html {
  const { secret } = view.messages.console.frame;
  return consoleLayout({
    ...view,
    notice: banner("warning", "once-notice", secret.once, html`<p>${view.text}</p>`),
    body: html`<section class="card">
${view.values.map((value) =>
  value.isSecret
    ? secretReveal({ ...value, value: value.lines, messages: view.messages })
    : codeBlock({ ...value, ...secret }),
)}
<div class="actions"><a class="button primary" id="once-done" href="${linkAddress(view.doneUri)}">${secret.done}</a></div>
</section>
${copyStatus}`,
  });
}

/**
 * The sign-in is too old for what was sent. What was typed waits in this page: the sign-in opens beside it.
 * @param view.posted the form as it came: it goes nowhere but back to the address that it was posted to
 * @param view.hasSecrets the form has fields that are typed once more
 */
export function waitingFormPage(
  view: ConsoleFrame & {
    action: string;
    posted: readonly HiddenField[];
    hasSecrets: boolean;
    signInUri: string;
  },
): Html {
  const { prove } = view.messages.console.frame;
  return consoleLayout({
    ...view,
    title: prove.title,
    summary: view.hasSecrets ? prove.textSecrets : prove.text,
    body: html`<section class="card confirm">
<ol class="steps"><li><p>${prove.first}</p>
<a class="button primary" id="prove-sign-in" href="${linkAddress(view.signInUri)}" target="_blank">${prove.signIn}</a></li>
<li><p>${prove.second}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.posted)}<button class="button" id="prove-go-on" type="submit">${prove.goOn}</button>
</form></li></ol></section>
`,
  });
}

/** The record was deleted while its form was open. */
export function goneRecordPage(frame: ConsoleFrame): Html {
  const { changed } = frame.messages.console.frame;
  const body = html`<section class="card"><p id="record-gone">${changed.goneText}</p></section>
`;
  return consoleLayout({ ...frame, title: changed.gone, body });
}

/** Of an address without a page, and of a record that isn't there (any more). */
export function missingPage(frame: ConsoleFrame): Html {
  const { console: texts, error } = frame.messages;
  const { missing } = texts.frame;
  const body = html`<section class="card confirm"><p id="page-missing">${missing.text}</p>
<div class="actions"><a class="button primary" id="missing-overview" href="${linkAddress(frame.homeUri)}">${missing.overview}</a></div></section>
`;
  return consoleLayout({ ...frame, title: error.titles.notFound, body });
}

/** Where the sign-in beside a waiting form ends. */
export function identityConfirmedPage(frame: ConsoleFrame): Html {
  const { prove, missing } = frame.messages.console.frame;
  const body = html`<section class="card confirm"><p id="identity-confirmed">${prove.confirmedText}</p>
<div class="actions"><a class="button" id="confirmed-home" href="${linkAddress(frame.homeUri)}">${missing.overview}</a></div></section>
`;
  return consoleLayout({ ...frame, title: prove.confirmed, body });
}
