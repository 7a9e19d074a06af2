/** Pages of the demo mailbox: the list and one email. */
import { exactTime } from "../../html/components/relative-time.ts";
import { type Html, html, linkAddress } from "../../html/html.ts";
import { contentLayout, type PageFrame } from "../../html/layout.ts";
import type { MailBody } from "../../html/mails/mail-body.ts";
import { timesScript } from "../../html/scripts.ts";

export type MailboxView = PageFrame & {
  /** Newest first. */
  mails: readonly { uri: string; subject: string; recipient: string; at: number }[];
};

export function mailboxPage(view: MailboxView): Html {
  const text = view.messages.mailbox;
  return contentLayout({
    ...view,
    title: text.heading,
    scripts: [timesScript.path],
    body: html`<div class="intro"><h1>${text.heading}</h1>
<p class="lead">${text.explanation}</p></div>
${view.mails.length === 0 ? html`<p id="mailbox-empty">${text.empty}</p>` : mailList(view)}`,
  });
}

function mailList({ mails, messages }: MailboxView): Html {
  const text = messages.mailbox;
  return html`<section aria-label="${text.list}">
<ul class="records">
${mails.map(
  ({ uri, subject, recipient, at }) => html`<li>
<h2><a href="${linkAddress(uri)}">${subject}</a></h2>
<dl class="claims"><dt>${text.to}</dt><dd>${recipient}</dd><dt>${text.at}</dt><dd>${exactTime(at, messages.format.second)}</dd></dl>
</li>
`,
)}</ul>
</section>`;
}

export type MailPageView = PageFrame & {
  recipient: string;
  at: number;
  body: MailBody;
  mailboxUri: string;
};

export function mailPage(view: MailPageView): Html {
  const text = view.messages.mailbox;
  const { body } = view;
  return contentLayout({
    ...view,
    title: body.subject,
    scripts: [timesScript.path],
    body: html`<div class="intro"><h1>${body.subject}</h1>
<dl class="claims"><dt>${text.to}</dt><dd>${view.recipient}</dd><dt>${text.at}</dt><dd>${exactTime(view.at, view.messages.format.second)}</dd></dl></div>
<section class="card" id="mail">
<p><strong><bdi>${body.organisation.name}</bdi></strong></p>
${body.paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}
${body.facts.length > 0 && html`<dl class="claims">${body.facts.map(({ name, value }) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>\n`}
${body.action && html`<a class="button primary" id="mail-action" href="${linkAddress(body.action.uri)}">${body.action.label}</a>`}
${body.closing.map((paragraph) => html`<p class="quiet">${paragraph}</p>\n`)}
</section>
<p><a class="alone" href="${linkAddress(view.mailboxUri)}">${text.back}</a></p>`,
  });
}
