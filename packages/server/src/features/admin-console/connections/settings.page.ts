/** The fields of a connection: of the short form that makes one, and of its settings tab. */
import type { Connection } from "../../../core/connections/connection.ts";
import { deletionPolicies } from "../../../core/connections/connection.ts";
import {
  clientAuthMethods,
  emailTrusts,
  linkingModes,
} from "../../../core/connections/sign-in/sign-in-settings.ts";
import { checkField, radioField, selectField, textArea, textField } from "../../../html/components/fields.ts";
import { editedCard, fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { type Content, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { endCard } from "../../../page-kit/record-pages.ts";
import { ending, methodText } from "./connection.page.ts";
import { type ConnectionView, isDirectory } from "./connection-pages.ts";
import { metadataFile, samlFields, shownSaml } from "./saml-fields.ts";
import { type ConnectionField, type ConnectionInput, SECRET_DUE } from "./settings-input.ts";

type Form = FormView<ConnectionInput>;

export function fieldLabels({ console: { connections } }: Messages): Record<ConnectionField, string> {
  const { fields } = connections;
  const labels = Object.entries(fields).map(([id, { label }]) => [id, label]);
  return { ...Object.fromEntries(labels), deletionPolicy: connections.deletionPolicy.label };
}

const textsOf = ({ messages }: Form) => messages.console.connections.fields;
const fieldOf = (form: Form) => fieldsOf(form, fieldLabels(form.messages));

/** @param isShown to who signs in */
export const nameField = (form: Form, isShown: boolean): Content =>
  textField({
    // The first one of a new connection, as long as no fault has the focus.
    ...(form.version === undefined && form.state.faults === undefined && { hasFocus: true }),
    ...fieldOf(form)("name"),
    ...(isShown && { hint: textsOf(form).name.hint }),
    ...{ maxLength: 100, isRequired: true },
  });

export const deletionPolicyField = (form: Form): Content => {
  const { deletionPolicy: text } = form.messages.console.connections;
  return radioField({
    ...fieldOf(form)("deletionPolicy"),
    hint: text.hint,
    choices: deletionPolicies.map((value) => ({
      value,
      label: text[value],
      text: value === "disable" ? text.disableText : text.deleteText,
    })),
  });
};

/** @param issuer.hint of the provider; undefined where its issuer is known */
export const clientFields = (
  form: Form,
  issuer: { readonly hint: string; readonly isOptional?: boolean } | undefined,
  secretHint: string,
): Content => [
  issuer &&
    textField({
      ...{ ...fieldOf(form)("issuer"), hint: issuer.hint, isCode: true },
      ...(issuer.isOptional ? { isOptional: true } : { isRequired: true }),
    }),
  textField({
    ...fieldOf(form)("clientId"),
    hint: textsOf(form).clientId.hint,
    isCode: true,
    isRequired: true,
  }),
  textField({
    ...fieldOf(form)("clientSecret"),
    ...{ value: "", type: "password", hint: secretHint, isCode: true, autocomplete: "off" },
  }),
  form.input.isSecretDue &&
    html`<input type="hidden" name="${SECRET_DUE}" value="1">
`,
];

/** One of the two is enough. */
export const metadataFields = (form: Form): Content => [
  textField({
    ...fieldOf(form)("metadataUrl"),
    ...{ hint: textsOf(form).metadataUrl.hint, isCode: true, isOptional: true },
  }),
  metadataFile(form.messages),
  textArea({
    ...fieldOf(form)("metadataXml"),
    ...{ hint: textsOf(form).metadataXml.hint, rows: 6, isCode: true, isOptional: true },
  }),
];

const methodField = (form: Form): Content =>
  selectField({
    ...fieldOf(form)("tokenEndpointAuthMethod"),
    hint: textsOf(form).tokenEndpointAuthMethod.hint,
    choices: clientAuthMethods.map((value) => ({ value, label: methodText(value, form.messages) })),
  });

const checked = (form: Form, id: "shown" | "createAccounts" | "upstreamLogout"): Content => {
  const { value: isChecked, ...field } = fieldOf(form)(id);
  return checkField({ ...field, hint: textsOf(form)[id].hint, isChecked });
};

const lineField = (form: Form, id: "mapping" | "assurance"): Content =>
  textArea({
    ...fieldOf(form)(id),
    ...{ hint: textsOf(form)[id].hint, rows: 5, isCode: true, isOptional: true },
  });

function accountFields(form: Form): Content {
  const { linking, linkingTexts, emailTrust } = form.messages.console.connections;
  return [
    checked(form, "shown"),
    checked(form, "createAccounts"),
    radioField({
      ...fieldOf(form)("linking"),
      hint: textsOf(form).linking.hint,
      choices: linkingModes.map((value) => ({ value, label: linking[value], text: linkingTexts[value] })),
    }),
    selectField({
      ...fieldOf(form)("emailTrust"),
      hint: textsOf(form).emailTrust.hint,
      choices: emailTrusts.map((value) => ({ value, label: emailTrust[value] })),
    }),
    checked(form, "upstreamLogout"),
  ];
}

/** The settings tab: what can be changed, and the end of the connection. */
export function connectionSettings(form: Form, view: ConnectionView, secretHint: string): Content {
  const { frame, connections: text } = view.messages.console;
  const fields = isDirectory(view.record)
    ? [nameField(form, false), deletionPolicyField(form)]
    : [
        nameField(form, true),
        view.record.settings?.saml && samlFields(form, fieldLabels(form.messages), view.record.settings.saml),
        view.record.kind !== "saml" && [
          clientFields(form, { hint: textsOf(form).issuer.hint }, secretHint),
          methodField(form),
          textField({ ...fieldOf(form)("scopes"), hint: textsOf(form).scopes.hint, isCode: true }),
        ],
        ...[accountFields(form), lineField(form, "mapping"), lineField(form, "assurance")],
      ];
  return [
    editedCard({
      ...form,
      label: frame.recordTabs.settings,
      id: "connection-form",
      fields,
      submit: { id: "connection-save", label: frame.form.save },
    }),
    !view.portal &&
      endCard(ending(view), {
        ...text.end,
        text: isDirectory(view.record) ? text.end.textDirectory : text.end.textSignIn,
        id: "connection-end",
        noun: "connection",
      }),
  ];
}

/** In words, for what somebody else has changed meanwhile; the secret in none. */
export function shownInput(
  input: ConnectionInput,
  record: Connection,
  messages: Messages,
): Record<string, string> {
  const { console } = messages;
  const { connections, frame } = console;
  const { name, deletionPolicy } = input;
  const word = (texts: Readonly<Record<string, string>>, value: string) => texts[value] ?? value;
  if (isDirectory(record)) return { name, deletionPolicy: word(connections.deletionPolicy, deletionPolicy) };
  const yesNo = (is: boolean) => (is ? frame.yes : frame.no);
  const client = {
    ...{ issuer: input.issuer, clientId: input.clientId, scopes: input.scopes },
    tokenEndpointAuthMethod: methodText(input.tokenEndpointAuthMethod, messages),
  };
  return {
    ...{ name, ...(record.kind === "saml" ? shownSaml(input, messages) : client) },
    ...{ shown: yesNo(input.shown), createAccounts: yesNo(input.createAccounts) },
    ...{ upstreamLogout: yesNo(input.upstreamLogout), linking: word(connections.linking, input.linking) },
    emailTrust: word(connections.emailTrust, input.emailTrust),
    ...{ mapping: input.mapping, assurance: input.assurance },
  };
}
