/** Email templates: the list and the preview. */
import { type MailContent, type MailTemplate, mailTemplates } from "../../../core/mail/mail.ts";
import { badge } from "../../../html/components/badge.ts";
import { card, facts } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { selectField } from "../../../html/components/fields.ts";
import { hiddenFields } from "../../../html/components/form.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { failureNotice, submissionTokenField } from "../../../html/components/record-form.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { LOCALES } from "../../../html/messages/messages.ts";
import { framesScript } from "../../../html/scripts.ts";

export type MailSetup = {
  kind: "smtp" | "mailbox" | "none";
  sender?: string | undefined;
  server?: string | undefined;
};

export function mailTemplatesPage(view: ConsoleFrame & { setup: MailSetup }): Html {
  const { messages, setup } = view;
  const { frame, mailTemplates: text } = messages.console;
  return consoleLayout({
    ...view,
    title: frame.pages.mailTemplates,
    breadcrumbs: [],
    summary: text.summary({ organisation: view.organisation.name }),
    body: [
      card({
        id: "sending",
        title: text.sending,
        text: text.sendingText,
        body: [
          facts([
            {
              label: text.state,
              content: badge(setup.kind === "none" ? "bad" : "good", text.kinds[setup.kind]),
              id: "mail-state",
            },
            { label: text.sender, content: setup.sender && html`<bdi>${setup.sender}</bdi>` },
            { label: text.server, content: setup.server && html`<code>${setup.server}</code>` },
          ]),
          setup.kind === "none" && html`<p class="quiet">${text.noneText}</p>`,
        ],
      }),
      card({
        id: "mails",
        title: text.list,
        body: table({
          label: text.list,
          columns: [text.columns.mail, text.columns.when],
          rows: mailTemplates.map((template) => ({
            id: `mail-${template}`,
            cells: [
              nameCell({ name: text.names[template], uri: view.consoleUri(`/mail-templates/${template}`) }),
              html`<span class="codes-line">${text.when[template]}</span>`,
            ],
          })),
          messages,
        }),
      }),
    ],
  });
}

/** The input is the language. */
export type MailTemplateView = FormView<string> & {
  template: MailTemplate;
  content: MailContent;
  isPossible: boolean;
  isSent: boolean;
};

export function mailTemplatePage(view: MailTemplateView): Html {
  const { messages, template, content } = view;
  const { frame, mailTemplates: text } = messages.console;
  return consoleLayout({
    ...view,
    title: text.names[template],
    scripts: [framesScript.path],
    summary: text.when[template],
    breadcrumbs: [{ label: frame.pages.mailTemplates, uri: view.consoleUri("/mail-templates") }],
    notice: view.isSent ? toast(text.done.sent, view.messages) : failureNotice(view.failure, messages),
    body: [
      card({
        id: "preview",
        title: text.preview,
        text: text.sample,
        body: [
          languageForm(view),
          facts([
            { label: text.from, content: html`<bdi>${content.senderName}</bdi>` },
            {
              label: text.subject,
              content: html`<bdi lang="${content.locale}">${content.subject}</bdi>`,
              id: "mail-subject",
            },
          ]),
          html`<h3>${text.html}</h3>
<iframe class="mail-frame" id="mail-html" title="${text.htmlFrame}" src="${linkAddress(`${view.action}/html?language=${content.locale}`)}" sandbox referrerpolicy="no-referrer" loading="lazy"></iframe>
<h3>${text.text}</h3>
<pre class="mail-text" id="mail-text" lang="${content.locale}" tabindex="0" aria-label="${text.text}">${content.text}</pre>`,
        ],
      }),
      testCard(view),
    ],
  });
}

function languageForm({ action, content, messages }: MailTemplateView): Html {
  const { mailTemplates: text } = messages.console;
  const choices = LOCALES.map((value) => ({ value, label: languageName(value) }));
  return html`<form class="search" method="get" action="${linkAddress(action)}">
${selectField({ id: "language", label: text.language, value: content.locale, choices, messages })}<button class="button" id="language-show" type="submit">${text.show}</button>
</form>
`;
}

function testCard({ action, csrf, once, isPossible, content, user, messages }: MailTemplateView): Html {
  const { mailTemplates: text } = messages.console;
  return card({
    id: "test",
    title: text.test,
    text: isPossible ? text.testText({ email: user.email }) : text.notSetUp,
    body:
      isPossible &&
      html`<form class="form" id="test-form" method="post" action="${linkAddress(action)}">
${hiddenFields([
  { name: "csrf", value: csrf },
  { name: "language", value: content.locale },
])}${submissionTokenField(once)}<div class="actions"><button class="button" id="test-send" type="submit">${text.testSubmit}</button></div>
</form>`,
  });
}
