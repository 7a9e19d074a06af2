/** The forms of name, accent colour and logo. */

import { avatar } from "../../../html/components/avatar.ts";
import { card } from "../../../html/components/card.ts";
import { colourField } from "../../../html/components/colour-field.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { defaultSubmit, textField } from "../../../html/components/fields.ts";
import { hiddenFields } from "../../../html/components/form.ts";
import { fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import { type FormView, fieldState } from "../../../html/components/form-state.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { draftPreviewScript, framesScript } from "../../../html/scripts.ts";
import { accentOrDefault, signInPreview } from "./sign-in-preview.ts";

export type BrandingInput = { name: string; accentColor: string };

export type BrandingView = FormView<BrandingInput> & {
  /** Undefined when it is no colour. */
  preview: { accentColor: string | undefined; logoUri: string | undefined } | undefined;
};

/** Name and colour, with a preview of the sign-in page. */
export function brandingPage(view: BrandingView): Html {
  const { messages, input, preview } = view;
  const { frame, settings: text } = messages.console;
  const settingsUri = view.consoleUri("/settings");
  const labels = { name: text.name, accentColor: text.accentColor };
  const field = fieldsOf(view, labels);
  return consoleLayout({
    ...view,
    title: text.brandingTitle,
    breadcrumbs: [{ label: frame.pages.settings, uri: settingsUri }],
    notice: formNotice({ ...view, labels }),
    ...(preview ? { previewAccent: accentOrDefault(preview.accentColor) } : {}),
    scripts: [framesScript.path, draftPreviewScript.path],
    body: [
      html`<div class="editor"><section class="card">${recordForm({
        ...view,
        id: "branding-form",
        isDraft: true,
        fields: [
          defaultSubmit,
          textField({ ...field("name"), hint: text.nameHint, maxLength: 100 }),
          colourField({ ...field("accentColor"), hint: text.accentHint, isOptional: true }),
        ],
        submit: { id: "branding-save", label: frame.form.save },
        more: html`<button class="button" id="branding-preview" name="preview" value="1" type="submit">${text.preview}</button>`,
        cancelUri: settingsUri,
      })}
<p><a id="branding-logo" href="${linkAddress(view.consoleUri("/settings/logo"))}">${text.logoTitle}</a></p></section>
${livePreview(view)}</div>
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

function livePreview({ consoleUri, messages }: BrandingView): Html {
  const { settings: text } = messages.console;
  const uri = linkAddress(consoleUri("/settings/branding/preview"));
  return html`<section class="card editor-preview" id="live" aria-labelledby="live-title">
<div class="bar"><h2 id="live-title">${text.livePreview}</h2>
<span class="heading-actions"><button class="button" id="branding-live" type="submit" form="branding-form" formaction="${uri}" formtarget="sign-in-preview">${text.livePreviewShow}</button></span></div>
<p class="quiet">${text.livePreviewText}</p>
<iframe class="mail-frame sign-in-frame" id="sign-in-preview" name="sign-in-preview" title="${text.livePreview}" src="${uri}" sandbox="allow-same-origin" referrerpolicy="no-referrer"></iframe>
</section>`;
}

export type LogoView = FormView<unknown> & { record: { name: string; logoUri: string | undefined } };

export function logoPage(view: LogoView): Html {
  const { record, state } = view;
  const { frame, settings: text } = view.messages.console;
  const settingsUri = view.consoleUri("/settings");
  const { fault, hasFocus } = fieldState(state, "logo");
  const described = fault === undefined ? "logo-hint" : "logo-hint logo-fault";
  return consoleLayout({
    ...view,
    title: text.logoTitle,
    breadcrumbs: [{ label: frame.pages.settings, uri: settingsUri }],
    notice: formNotice({ ...view, labels: { logo: text.logoFile } }),
    body: html`<section class="card">
<p class="logo-now">${avatar(record.name, record.logoUri)}<span>${record.logoUri === undefined ? text.noLogo : html`<bdi>${record.name}</bdi>`}</span></p>
<form class="form" id="logo-form" method="post" action="${linkAddress(view.action)}" enctype="multipart/form-data" novalidate>
${hidden(view)}<div class="field"><label for="logo">${text.logoFile}</label>
<input id="logo" name="logo" type="file" accept="image/png" aria-describedby="${described}"${fault !== undefined && html` aria-invalid="true"`}${hasFocus && html` autofocus`}>
<p class="field-hint" id="logo-hint">${text.logoText}</p>
${fault !== undefined && html`<p class="failed" id="logo-fault">${fault}</p>`}</div>
<div class="actions"><button class="button primary" id="logo-save" type="submit">${text.logoSave}</button>
<a class="button" id="logo-cancel" href="${linkAddress(settingsUri)}">${frame.form.cancel}</a></div>
</form>
${
  record.logoUri !== undefined &&
  html`<form class="form apart" id="logo-remove-form" method="post" action="${linkAddress(view.action)}">
${hidden(view)}${hiddenFields([{ name: "remove", value: "1" }])}
<div class="actions"><button class="button" id="logo-remove" type="submit">${text.logoRemove}</button></div>
</form>`
}</section>
`,
  });
}

const hidden = ({ csrf, version = "" }: LogoView): Html =>
  hiddenFields([
    { name: "csrf", value: csrf },
    { name: "seen", value: version },
  ]);
