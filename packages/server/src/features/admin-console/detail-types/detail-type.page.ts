/** The fields of a type of authorization details, and the first tab of its page. */
import type { DetailType } from "../../../core/authorization-details/detail-type.ts";
import { card, facts } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { type Content, html } from "../../../html/html.ts";
import { readableJson } from "../../../html/json.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import { enabledField } from "../plain-records/fields.ts";

export interface DetailTypeInput {
  readonly type: string;
  readonly displayName: string;
  readonly template: string;
  /** JSON, as it was typed. */
  readonly schema: string;
  /** Empty: none. */
  readonly resource: string;
  readonly enabled: boolean;
}

export function detailTypeLabels({ console: { authorizationDetailTypes, plainRecords } }: Messages) {
  const { fields } = authorizationDetailTypes;
  return {
    ...{ type: fields.type.label, displayName: fields.displayName.label, template: fields.template.label },
    ...{ schema: fields.schema.label, resource: fields.resource.label },
    enabled: plainRecords.enabled.label,
  };
}

export function detailTypeFields(
  form: FormView<DetailTypeInput>,
  _: undefined,
  before: DetailType | undefined,
): Content {
  const { fields } = form.messages.console.authorizationDetailTypes;
  const field = fieldsOf(form, detailTypeLabels(form.messages));
  const isFirst = form.state.faults === undefined && before === undefined;
  return [
    textField({
      ...{ ...field("type"), hint: before ? fields.type.hintFixed : fields.type.hint },
      ...{ maxLength: 255, isCode: true, isRequired: true, isReadOnly: before !== undefined },
      ...(isFirst && { hasFocus: true }),
    }),
    textField({
      ...{ ...field("displayName"), hint: fields.displayName.hint, maxLength: 100, isRequired: true },
    }),
    textField({
      ...{ ...field("template"), hint: fields.template.hint, maxLength: 500, isRequired: true },
    }),
    textArea({ ...{ ...field("schema"), hint: fields.schema.hint, rows: 12, isCode: true } }),
    textField({
      ...{ ...field("resource"), hint: fields.resource.hint, maxLength: 2_048, type: "url" },
      ...{ isCode: true, isOptional: true },
    }),
    enabledField(field("enabled")),
  ];
}

export function detailTypeGeneral({ record, messages }: RecordView<DetailType>): Content {
  const { authorizationDetailTypes: text, frame } = messages.console;
  const { fields } = text;
  return card({
    ...{ id: "detail-type-details", title: text.details, text: text.detailsText },
    body: [
      facts([
        {
          label: fields.type.label,
          content: copyField({
            ...{ ...frame.secret, id: "detail-type-type", value: record.type, label: fields.type.label },
          }),
        },
        { label: fields.template.label, content: html`<bdi>${record.template}</bdi>` },
        {
          label: fields.resource.label,
          content: record.resource !== null && html`<code>${record.resource}</code>`,
        },
      ]),
      codeBlock({
        ...{ ...frame.secret, id: "detail-type-schema", title: fields.schema.label },
        lines: readableJson(record.schema),
      }),
    ],
  });
}
