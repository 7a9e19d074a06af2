/** The fields of a SAML connection's settings. */
import { MAX_XML_BYTES } from "../../../core/connections/saml/xml.ts";
import type { SamlProvider } from "../../../core/connections/sign-in/sign-in-settings.ts";
import { checkField, textArea, textField } from "../../../html/components/fields.ts";
import { fileText } from "../../../html/components/file-text.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import type { Content } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { isTyped } from "./saml-input.ts";
import type { ConnectionField, ConnectionInput } from "./settings-input.ts";

/** Of metadata at a URL its members are read, and not typed; of any other they are what was read last. */
export function samlFields(
  form: FormView<ConnectionInput>,
  labels: Readonly<Record<ConnectionField, string>>,
  saml: SamlProvider,
): Content {
  const { fields: texts } = form.messages.console.connections;
  const fieldOf = fieldsOf(form, labels);
  const { value: isAgain, ...again } = fieldOf("metadataAgain");
  const { value: isAllowed, ...unsolicited } = fieldOf("allowIdpInitiated");
  const code = { isCode: true, isOptional: true };
  return [
    textField({ ...fieldOf("metadataUrl"), hint: texts.metadataUrl.hint, ...code }),
    !isTyped(saml) && checkField({ ...again, hint: texts.metadataAgain.hint, isChecked: isAgain }),
    metadataFile(form.messages),
    textArea({ ...fieldOf("metadataXml"), value: "", hint: texts.metadataXml.replace, rows: 4, ...code }),
    isTyped(saml) && [
      textField({ ...fieldOf("entityId"), isCode: true, isRequired: true }),
      textField({ ...fieldOf("ssoUrl"), hint: texts.ssoUrl.hint, isCode: true, isRequired: true }),
      textField({ ...fieldOf("sloUrl"), hint: texts.sloUrl.hint, ...code }),
      textArea({ ...fieldOf("certificates"), hint: texts.certificates.hint, rows: 6, isCode: true }),
    ],
    textField({ ...fieldOf("subjectAttribute"), hint: texts.subjectAttribute.hint, ...code }),
    checkField({ ...unsolicited, hint: texts.allowIdpInitiated.hint, isChecked: isAllowed }),
  ];
}

/** Read into the field below it. */
export const metadataFile = ({ console: { connections, users } }: Messages): Content =>
  fileText({
    ...connections.metadataFile,
    ...{ id: "metadata-file", field: "metadataXml", accept: ".xml,application/samlmetadata+xml,text/xml" },
    ...{ maxBytes: MAX_XML_BYTES, read: users.import.file.read({ name: "#" }) },
  });

/** In words, for what somebody else has changed meanwhile. */
export function shownSaml(input: ConnectionInput, { console: { frame } }: Messages): Record<string, string> {
  const { metadataUrl, entityId, ssoUrl, sloUrl, certificates, subjectAttribute } = input;
  const allowIdpInitiated = input.allowIdpInitiated ? frame.yes : frame.no;
  return { metadataUrl, entityId, ssoUrl, sloUrl, certificates, subjectAttribute, allowIdpInitiated };
}
