/** The form of sign-in methods, beside the page as it would be. */

import { passkeyEnrolments, signInMethods } from "../../../core/organisations/sign-in-methods.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { checkField, radioField, selectField } from "../../../html/components/fields.ts";
import { fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { draftPreviewScript, framesScript } from "../../../html/scripts.ts";
import { editorHead, editorTabs, livePreview } from "./live-preview.page.ts";

/** One for each place of the sign-in page: a method, or nothing. */
export const methodFields = ["method1", "method2", "method3", "method4"] as const;

export type MethodsInput = Record<(typeof methodFields)[number], string> & {
  passkeyEnrolment: string;
  offersTotp: boolean;
  offersPasskey: boolean;
};

export type MethodsView = FormView<MethodsInput> & {
  done: keyof Messages["console"]["settings"]["done"] | undefined;
};

export const methodsPath = "/settings/sign-in-methods";

const FORM_ID = "methods-form";

export function methodsPage(view: MethodsView): Html {
  const { messages, input } = view;
  const { frame, settings: text } = messages.console;
  const labels = methodLabels(text);
  const field = fieldsOf(view, labels);
  return consoleLayout({
    ...view,
    ...editorHead(view, text.methods),
    notice: formNotice({ ...view, labels }) ?? (view.done && toast(text.done[view.done], view)),
    scripts: [framesScript.path, draftPreviewScript.path],
    body: [
      editorTabs(view, "methods", text.methodsText),
      html`<div class="editor"><section class="card" aria-label="${text.methods}">${recordForm({
        ...view,
        id: FORM_ID,
        isDraft: true,
        fields: [
          html`<fieldset class="field-group"><legend>${text.methods}</legend>
<p class="field-hint">${text.methodsHint}</p>
${methodFields.map((name, at) => selectField({ ...field(name), choices: methodChoices(text, at > 0) }))}</fieldset>
`,
          radioField({
            ...field("passkeyEnrolment"),
            hint: text.enrolmentHint,
            choices: passkeyEnrolments.map((value) => ({ value, ...text.enrolmentChoices[value] })),
          }),
          html`<fieldset class="field-group"><legend>${text.factorMethods}</legend>
<p class="field-hint">${text.factorMethodsText}</p>
${checkField({ ...field("offersTotp"), hint: text.factorTotpHint, isChecked: input.offersTotp })}${checkField({ ...field("offersPasskey"), hint: text.factorPasskeyHint, isChecked: input.offersPasskey })}</fieldset>
`,
        ],
        submit: { id: "methods-save", label: frame.form.save },
      })}</section>
${livePreview(view, { id: FORM_ID, rest: methodsPath })}</div>
`,
    ],
  });
}

const methodChoices = (text: Messages["console"]["settings"], mayBeNone: boolean) => [
  ...(mayBeNone ? [{ value: "", label: text.methodNone }] : []),
  ...signInMethods.map((value) => ({ value, label: text.methodNames[value] })),
];

export const methodLabels = (
  text: Messages["console"]["settings"],
): Readonly<Record<keyof MethodsInput, string>> => ({
  ...text.methodPlaces,
  passkeyEnrolment: text.enrolment,
  offersTotp: text.factorTotp,
  offersPasskey: text.factorPasskey,
});
