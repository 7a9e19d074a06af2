/** The emails: how they are sent, and the list. */
import { type MailTemplate, mailTemplates } from "../../../core/mail/mail.ts";
import { isEditable } from "../../../core/mail/mail-texts.ts";
import { badge } from "../../../html/components/badge.ts";
import { card, facts } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { editorHead, editorTabs } from "../settings/live-preview.page.ts";

export type MailSetup = {
  kind: "smtp" | "mailbox" | "none";
  sender?: string | undefined;
  server?: string | undefined;
};

/** @param view.written the languages in which the organisation has written an email's text itself */
export function mailTemplatesPage(
  view: ConsoleFrame & { setup: MailSetup; written: ReadonlyMap<string, readonly string[]> },
): Html {
  const { messages, setup } = view;
  const { frame, mailTemplates: text } = messages.console;
  return consoleLayout({
    ...view,
    ...editorHead(view, frame.pages.mailTemplates),
    body: [
      editorTabs(view, "emails", text.summary({ organisation: view.organisation.name })),
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
        text: text.editable,
        body: table({
          label: text.list,
          columns: [text.columns.mail, text.columns.when, text.columns.text],
          rows: mailTemplates.map((template) => ({
            id: `mail-${template}`,
            cells: [
              nameCell({ name: text.names[template], uri: view.consoleUri(`/mail-templates/${template}`) }),
              html`<span class="codes-line">${text.when[template]}</span>`,
              html`<span class="quiet" id="text-${template}">${textOf(template, view.written.get(template) ?? [], text)}</span>`,
            ],
          })),
          messages,
        }),
      }),
    ],
  });
}

function textOf(
  template: MailTemplate,
  locales: readonly string[],
  text: Messages["console"]["mailTemplates"],
): string {
  if (!isEditable(template)) return text.texts.fixed;
  return locales.length === 0
    ? text.texts.builtIn
    : text.texts.own({ languages: locales.map(languageName).join(", ") });
}
