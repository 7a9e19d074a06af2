/** The form of sign-up and terms. */
import { MAX_TERMS_VERSION, signUpModes } from "../../../core/organisations/sign-up-settings.ts";
import { radioField, textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export type SignUpInput = {
  mode: string;
  version: string;
  url: string;
  /** Names, one a line. */
  groups: string;
};

export function signUpSettingsPage(view: FormView<SignUpInput>): Html {
  const { frame, settings } = view.messages.console;
  const text = settings.signUp;
  const settingsUri = view.consoleUri("/settings");
  const field = fieldsOf(view, labels(view.messages));
  return formPage({
    ...view,
    title: text.title,
    summary: text.summary,
    breadcrumbs: [{ label: frame.pages.settings, uri: settingsUri }],
    id: "sign-up-form",
    labels: labels(view.messages),
    fields: [
      radioField({
        ...field("mode"),
        choices: signUpModes.map((value) => ({ value, ...text.modes[value] })),
      }),
      textField({ ...field("url"), hint: text.urlHint, type: "url", maxLength: 500, isOptional: true }),
      textField({
        ...field("version"),
        ...{ hint: text.versionHint, maxLength: MAX_TERMS_VERSION, isOptional: true },
      }),
      textArea({ ...field("groups"), hint: text.groupsHint, rows: 3, isOptional: true }),
    ],
    submit: { id: "sign-up-save", label: settings.save },
    cancelUri: settingsUri,
  });
}

/** In the order of the page. */
const labels = ({
  console: {
    settings: { signUp: text },
  },
}: Messages): Readonly<Record<keyof SignUpInput, string>> => ({
  mode: text.mode,
  url: text.url,
  version: text.version,
  groups: text.groups,
});
