/** One email: its text on the left, what a reader gets on the right, and a test. */
import { type MailContent, type MailTemplate, mailTemplates } from "../../../core/mail/mail.ts";
import type { MailTextField } from "../../../core/mail/mail-text.ts";
import {
  type EditableTemplate,
  isEditable,
  mailRules,
  mailTextLimits,
} from "../../../core/mail/mail-texts.ts";
import { card } from "../../../html/components/card.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { defaultSubmit, selectField, textArea, textField } from "../../../html/components/fields.ts";
import { hiddenFields } from "../../../html/components/form.ts";
import { fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { submissionTokenField } from "../../../html/components/record-form.ts";
import { saveBar } from "../../../html/components/save-bar.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";
import { draftPreviewScript, framesScript } from "../../../html/scripts.ts";
import { editorHead, editorTabs } from "../settings/live-preview.page.ts";

export type MailTextInput = Record<MailTextField, string>;

export type MailTemplateView = FormView<MailTextInput> & {
  template: MailTemplate;
  locale: string;
  content: MailContent;
  /** Whether the organisation has written this text itself. */
  isOwn: boolean;
  /** Whether an email can be sent. */
  isPossible: boolean;
  /** Of the test's form. */
  testToken: string;
  done: keyof Messages["console"]["mailTemplates"]["done"] | undefined;
};

export function mailTemplatePage(view: MailTemplateView): Html {
  const { messages, template } = view;
  const { mailTemplates: text } = messages.console;
  return consoleLayout({
    ...view,
    ...editorHead(view, text.names[template]),
    scripts: [framesScript.path, draftPreviewScript.path],
    notice: view.done ? toast(text.done[view.done], view) : formNotice({ ...view, labels: labelsOf(text) }),
    body: html`${editorTabs(view, "emails")}${chooser(view)}<div class="editor"><div class="editor-form">
${card({ id: "text", title: text.names[template], text: html`${text.when[template]} ${textOfCard(view)}`, body: isEditable(template) && textForm(view, template) })}
${testCard(view)}</div>
${previewCard(view)}</div>`,
  });
}

const labelsOf = (text: Messages["console"]["mailTemplates"]): Record<MailTextField, string> => ({
  subject: text.subject,
  heading: text.heading,
  body: text.body,
  button: text.button,
});

const textOfCard = ({ template, organisation, messages }: MailTemplateView): string => {
  const { mailTemplates: text } = messages.console;
  return isEditable(template) ? text.verifiedOnly : text.fixedText({ organisation: organisation.name });
};

const pathOf = ({ consoleUri, template }: MailTemplateView, rest = ""): string | undefined =>
  linkAddress(consoleUri(`/mail-templates/${template}${rest}`));

/** Which email, in which language: beside the tabs' other forms, without the way back to the list. */
function chooser(view: MailTemplateView): Html {
  const { locale, template, messages } = view;
  const { mailTemplates: text } = messages.console;
  const mails = mailTemplates.map((value) => ({ value, label: text.names[value] }));
  const languages = LOCALES.map((value) => ({ value, label: languageName(value) }));
  return html`<form class="search mail-chooser" method="get" action="${linkAddress(view.consoleUri("/mail-templates"))}">
${selectField({ id: "mail", label: text.columns.mail, value: template, choices: mails, messages })}${selectField({ id: "language", label: text.language, value: locale, choices: languages, messages })}<button class="button" id="language-show" type="submit">${text.show}</button>
</form>
`;
}

function textForm(view: MailTemplateView, template: EditableTemplate): Html {
  const { csrf, version = "", once, locale, isOwn, messages } = view;
  const { frame, mailTemplates: text } = messages.console;
  const { fields, variables, required } = mailRules(template);
  const field = fieldsOf(view, labelsOf(text));
  const maxLength = (id: MailTextField) => mailTextLimits[id];
  const named = (names: readonly (keyof typeof text.variables)[]): Content =>
    names.map((name, index) => html`${index > 0 && ", "}<code>{${name}}</code> ${text.variables[name]}`);
  return html`<form class="form" id="mail-text-form" method="post" action="${pathOf(view, "/text")}" novalidate data-draft>
${defaultSubmit}${hiddenFields([
  { name: "csrf", value: csrf },
  { name: "seen", value: version },
  { name: "language", value: locale },
])}${submissionTokenField(once)}${textField({ ...field("subject"), maxLength: maxLength("subject") })}${textField(
  {
    ...field("heading"),
    hint: text.headingHint,
    maxLength: maxLength("heading"),
    isOptional: true,
  },
)}${textArea({ ...field("body"), hint: text.bodyHint, rows: 6, maxLength: maxLength("body") })}${
  fields.includes("button") && textField({ ...field("button"), maxLength: maxLength("button") })
}<p class="field-hint" id="mail-variables">${text.variablesText} ${named(variables)}.${
    required.length > 0 && html` ${text.requiredText} ${named(required)}.`
  }</p>
<p class="field-hint">${text.emptyText}</p>
${saveBar({
  submit: { id: "mail-text-save", label: frame.form.save },
  more:
    isOwn &&
    html`<button class="button" id="mail-text-reset" type="submit" name="reset" value="1">${text.reset}</button>`,
  messages,
})}</form>
`;
}

/** Of the same frame: as HTML or as plain text, of what is typed where something can be. */
function versionSwitch(view: MailTemplateView): Html {
  const { mailTemplates: text } = view.messages.console;
  const choice = (part: "html" | "text", label: string) => {
    const uri = pathOf(view, `/html?language=${view.locale}&part=${part}`);
    return isEditable(view.template)
      ? html`<button class="button" id="draft-${part}" type="submit" form="mail-text-form" formaction="${uri}" formtarget="mail-preview">${label}</button>`
      : html`<a class="button" id="draft-${part}" href="${uri}" target="mail-preview">${label}</a>`;
  };
  return html`<span class="heading-actions">${choice("html", text.html)}${choice("text", text.text)}</span>`;
}

function previewCard(view: MailTemplateView): Html {
  const { content, messages } = view;
  const { mailTemplates: text } = messages.console;
  const frameUri = `${pathOf(view, "/html")}?language=${content.locale}`;
  return html`<section class="card editor-preview" id="preview" aria-labelledby="preview-title">
<div class="bar"><h2 id="preview-title">${text.preview}</h2>
${versionSwitch(view)}</div>
<p class="quiet">${text.sample}</p>
<div class="mail-window"><noscript class="late-frame"><iframe class="mail-frame" id="mail-html" name="mail-preview" title="${text.htmlFrame}" src="${frameUri}" sandbox referrerpolicy="no-referrer"></iframe></noscript></div>
<details class="mail-plain"><summary>${text.savedText}: <bdi id="mail-subject" lang="${content.locale}">${content.subject}</bdi></summary>
<pre class="mail-text" id="mail-text" lang="${content.locale}" tabindex="0" aria-label="${text.text}">${content.text}</pre></details>
</section>`;
}

function testCard(view: MailTemplateView): Html {
  const { csrf, testToken, isPossible, content, user, messages } = view;
  const { mailTemplates: text } = messages.console;
  return card({
    id: "test",
    title: text.test,
    text: isPossible ? text.testText({ email: user.email }) : text.notSetUp,
    body:
      isPossible &&
      html`<form class="form" id="test-form" method="post" action="${pathOf(view)}">
${hiddenFields([
  { name: "csrf", value: csrf },
  { name: "language", value: content.locale },
])}${submissionTokenField(testToken)}<div class="actions"><button class="button" id="test-send" type="submit">${text.testSubmit}</button></div>
</form>`,
  });
}
