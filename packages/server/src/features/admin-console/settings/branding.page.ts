import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { textField } from "../../../html/components/fields.ts";
import { hiddenFields } from "../../../html/components/form.ts";
import { type FormState, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { mark } from "../../../html/components/mark.ts";
import { card } from "../../../html/components/parts.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { shownAccent, signInPreview } from "./sign-in-preview.ts";

/** As they were typed. */
export type TypedBranding = { name: string; accentColor: string };

type Frame = ConsoleFrame & {
  failure?: FormFailure | undefined;
  state: FormState;
  csrf: string;
  seen: string | undefined;
  action: string;
  settingsUri: string;
};

export type BrandingView = Frame & {
  typed: TypedBranding;
  /** Undefined when what was typed is no colour. */
  preview: { accentColor: string | undefined; logoUri: string | undefined } | undefined;
};

/** The name and the colour, with the sign-in page as it would be. */
export function brandingPage(view: BrandingView): Html {
  const { messages, typed, preview, state: form, settingsUri } = view;
  const { frame, settings: text } = messages.console;
  const labels: Readonly<Record<string, string>> = { name: text.name, accentColor: text.accentColor };
  const field = (id: keyof TypedBranding, hint: string, maxLength: number, isCode = false) =>
    textField({
      id,
      label: text[id],
      hint,
      value: typed[id],
      maxLength,
      isCode,
      isOptional: id === "accentColor",
      ...fieldState(form, id),
      messages,
    });
  return consoleLayout({
    ...view,
    title: text.brandingTitle,
    breadcrumbs: [{ label: frame.pages.settings, uri: settingsUri }],
    notice: failureNotice(view.failure ?? faultsFailure(form, (id) => labels[id] ?? id), messages),
    ...(preview ? { previewAccent: shownAccent(preview.accentColor) } : {}),
    body: [
      html`<section class="card">${recordForm({
        id: "branding-form",
        action: view.action,
        csrf: view.csrf,
        seen: view.seen,
        fields: [field("name", text.nameHint, 100), field("accentColor", text.accentHint, 7, true)],
        submit: { id: "branding-save", label: frame.form.save },
        more: html`<button class="button" id="branding-preview" name="preview" value="1" type="submit">${text.preview}</button>`,
        cancelUri: settingsUri,
        messages,
      })}</section>
`,
      preview &&
        card({
          id: "preview",
          title: text.previewTitle,
          text: text.previewText,
          body: signInPreview({ name: typed.name.trim() || view.organisation.name, ...preview, messages }),
        }),
    ],
  });
}

export type LogoView = Frame & { record: { name: string; logoUri: string | undefined } };

/** The logo as it is, a file in its place, and the way back to none. */
export function logoPage(view: LogoView): Html {
  const { messages, record, state: form, settingsUri } = view;
  const { frame, settings: text } = messages.console;
  const { fault, hasFocus } = fieldState(form, "logo");
  const described = fault === undefined ? "logo-hint" : "logo-hint logo-fault";
  return consoleLayout({
    ...view,
    title: text.logoTitle,
    breadcrumbs: [{ label: frame.pages.settings, uri: settingsUri }],
    notice: failureNotice(view.failure ?? faultsFailure(form, () => text.logoFile), messages),
    body: html`<section class="card">
<p class="logo-now">${mark(record.name, record.logoUri)}<span>${record.logoUri === undefined ? text.noLogo : html`<bdi>${record.name}</bdi>`}</span></p>
<form class="form" id="logo-form" method="post" action="${linkAddress(view.action)}" enctype="multipart/form-data" novalidate>
${seal(view)}<div class="field"><label for="logo">${text.logoFile}</label>
<input id="logo" name="logo" type="file" accept="image/png" aria-describedby="${described}"${fault !== undefined && html` aria-invalid="true"`}${hasFocus && html` autofocus`}>
<p class="field-hint" id="logo-hint">${text.logoText}</p>
${fault !== undefined && html`<p class="failed" id="logo-fault">${fault}</p>`}</div>
<div class="actions"><button class="button primary" id="logo-save" type="submit">${text.logoSave}</button>
<a class="button" id="logo-cancel" href="${linkAddress(settingsUri)}">${frame.form.cancel}</a></div>
</form>
${
  record.logoUri !== undefined &&
  html`<form class="form apart" id="logo-remove-form" method="post" action="${linkAddress(view.action)}">
${seal(view)}${hiddenFields([{ name: "remove", value: "1" }])}
<div class="actions"><button class="button" id="logo-remove" type="submit">${text.logoRemove}</button></div>
</form>`
}</section>
`,
  });
}

const seal = ({ csrf, seen }: Frame): Html =>
  hiddenFields([
    { name: "csrf", value: csrf },
    ...(seen === undefined ? [] : [{ name: "seen", value: seen }]),
  ]);
