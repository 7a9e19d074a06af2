/** The form of the sign-in page. */

import { brandingLinks } from "../../../core/organisations/branding-links.ts";
import type { OrganisationSettings } from "../../../core/organisations/organisation.ts";
import { signInTextLengths, signInTextParts } from "../../../core/organisations/sign-in-texts.ts";
import { avatar } from "../../../html/components/avatar.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { colourField } from "../../../html/components/colour-field.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { defaultSubmit, textField as inputField } from "../../../html/components/fields.ts";
import { fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";
import { draftPreviewScript, framesScript } from "../../../html/scripts.ts";
import { editorHead, editorTabs, livePreview } from "./live-preview.page.ts";
import { type SignInInput, textField } from "./sign-in-input.ts";
import { accentOrDefault, signInPreview } from "./sign-in-preview.ts";

export type BrandingView = FormView<SignInInput> & {
  settings: OrganisationSettings;
  logoUri: string | undefined;
  done: keyof Messages["console"]["settings"]["done"] | undefined;
  /** Undefined when it is no colour. */
  preview: { accentColor: string | undefined; logoUri: string | undefined } | undefined;
};

/** Everything about the organisation's sign-in page, beside the page itself. */
export function brandingPage(view: BrandingView): Html {
  const { messages, input, preview } = view;
  const { frame, settings: text } = messages.console;
  const labels = labelsOf(messages);
  return consoleLayout({
    ...view,
    ...editorHead(view, text.brandTab),
    breadcrumbs: [],
    notice: formNotice({ ...view, labels }) ?? (view.done && toast(text.done[view.done], view)),
    ...(preview ? { previewAccent: accentOrDefault(preview.accentColor) } : {}),
    scripts: [framesScript.path, draftPreviewScript.path],
    body: [
      editorTabs(view, "brand"),
      html`<div class="editor"><section class="card" aria-label="${text.brandingTitle}">${recordForm({
        ...view,
        id: "branding-form",
        isDraft: true,
        fields: [
          defaultSubmit,
          brandFields(view, labels),
          textFields(view, labels),
          linkFields(view, labels),
        ],
        submit: { id: "branding-save", label: frame.form.save },
      })}</section>
${livePreview(view, { id: "branding-form", rest: "/settings/branding" })}</div>
`,
      preview &&
        card({
          id: "preview",
          title: text.previewTitle,
          text: text.previewText,
          body: signInPreview({ name: input.name.trim() || view.organisation.name, ...preview, messages }),
        }),
    ],
  });
}

type Labels = Readonly<Record<string, string>>;

function labelsOf(messages: Messages): Labels {
  const { settings: text } = messages.console;
  const { help, privacy, terms } = messages.frame.links;
  return {
    ...{ name: text.name, accentColor: text.accentColor },
    ...{ helpUri: help, privacyUri: privacy, termsUri: terms },
    ...Object.fromEntries(
      LOCALES.flatMap((locale) =>
        signInTextParts.map((part) => [textField(part, locale), `${text[part]} (${languageName(locale)})`]),
      ),
    ),
  };
}

function brandFields(view: BrandingView, labels: Labels): Html {
  const { settings: text } = view.messages.console;
  const field = fieldsOf(view, labels);
  return section(text.brand, [
    inputField({ ...field("name"), hint: text.nameHint, maxLength: 100 }),
    colourField({ ...field("accentColor"), hint: text.accentHint, isOptional: true }),
    html`<div class="actions"><button class="button" id="branding-preview" name="preview" value="1" type="submit">${text.preview}</button></div>`,
    html`<p class="logo-now">${avatar(view.organisation.name, view.logoUri)}${buttonLink({ id: "branding-logo", uri: view.consoleUri("/settings/logo"), label: text.imagesTitle })}</p>`,
  ]);
}

/** The default language's first; the others open when they have a text, a fault, or another's change. */
function textFields(view: BrandingView, labels: Labels): Html {
  const { settings: text } = view.messages.console;
  const { defaultLocale } = view.settings;
  const first = LOCALES.includes(defaultLocale) ? defaultLocale : (LOCALES[0] ?? "en");
  const others = LOCALES.filter((locale) => locale !== first);
  const field = fieldsOf(view, labels);
  const isOpen = others
    .flatMap((locale) => signInTextParts.map((part) => field(textField(part, locale))))
    .some(({ value, fault, isNow }) => value !== "" || fault !== undefined || isNow !== undefined);
  return section(text.texts, [
    html`<p class="field-hint">${text.textsText}</p>`,
    languageFields(view, labels, first, true),
    html`<details class="more-fields" id="other-languages"${isOpen && html` open`}><summary>${text.otherLanguages}</summary>
${others.map((locale) => languageFields(view, labels, locale, false))}</details>
`,
  ]);
}

function languageFields(view: BrandingView, labels: Labels, locale: string, isFirst: boolean): Content {
  const { settings: text } = view.messages.console;
  const field = fieldsOf(view, labels);
  const hints = { heading: text.headingHint, text: text.textHint };
  return signInTextParts.map((part) =>
    inputField({
      ...field(textField(part, locale)),
      value: view.input[textField(part, locale)] ?? "",
      ...(isFirst ? { hint: hints[part] } : {}),
      maxLength: signInTextLengths[part],
      isOptional: true,
    }),
  );
}

function linkFields(view: BrandingView, labels: Labels): Html {
  const { settings: text } = view.messages.console;
  const field = fieldsOf(view, labels);
  return section(text.linksTitle, [
    html`<p class="field-hint">${text.linksText}</p>`,
    brandingLinks.map((name) =>
      inputField({
        ...field(name),
        hint: name === "helpUri" ? text.helpHint : text.linkHint,
        maxLength: 500,
        isOptional: true,
      }),
    ),
  ]);
}

const section = (
  legend: string,
  fields: Content,
): Html => html`<fieldset class="field-group"><legend>${legend}</legend>
${fields}</fieldset>
`;
