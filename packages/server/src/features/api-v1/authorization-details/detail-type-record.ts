/** A type of authorization details as API v1 shows it. */
import Type from "typebox";
import type { DetailType } from "../../../core/authorization-details/detail-type.ts";
import type { DetailTypeContent } from "../../../core/authorization-details/detail-types.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { type PatchOf, patchSchema } from "../frame/patch-schema.ts";
import { memoryFields } from "../lists/list-fields.ts";

const required = {
  displayName: Type.String({ description: "As the consent page calls it" }),
  template: Type.String({
    description: "The sentence of the consent page, with members of the details in braces",
    examples: ["Pay {amount.value} to {creditor}"],
  }),
  schema: Type.Record(Type.String(), Type.Unknown(), {
    description: "JSON Schema 2020-12 of the details, at most 16 KiB; references stay within it",
  }),
};
const optional = {
  resource: Type.String({
    description: "The API that understands the details (RFC 8707): the target of their tokens",
  }),
  enabled: Type.Boolean({ description: "Default: true" }),
};
const content = { ...required, ...optional };

export const newDetailType = strictObject(
  {
    type: Type.String({ description: "As requests name it (RFC 9396); cannot be changed" }),
    ...required,
    resource: Type.Optional(optional.resource),
    enabled: Type.Optional(optional.enabled),
  },
  { title: "ApiNewAuthorizationDetailType" },
);
export const detailTypePatch = patchSchema(content, { title: "ApiAuthorizationDetailTypeChange" });

export const detailTypeSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    type: Type.String(),
    ...content,
    resource: Type.Union([Type.String(), Type.Null()]),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { title: "ApiAuthorizationDetailType" },
);

export const detailTypeFields = memoryFields({
  ...({ id: "text", type: "text", displayName: "text", template: "text", resource: "text" } as const),
  ...({ enabled: "boolean", createdAt: "time", updatedAt: "time" } as const),
});

export const detailTypeRecord = (type: DetailType) => ({
  id: type.id,
  type: type.type,
  displayName: type.displayName,
  template: type.template,
  schema: type.schema,
  resource: type.resource,
  enabled: type.enabled,
  createdAt: wireTime(type.createdAt),
  updatedAt: wireTime(type.updatedAt),
});

/** Of what was sent; null: as if it had never been set. */
export function changedContent(patch: PatchOf<typeof content>): Partial<DetailTypeContent> {
  const { displayName, template, schema, resource, enabled } = patch;
  return {
    ...(displayName === undefined ? {} : { displayName: displayName ?? "" }),
    ...(template === undefined ? {} : { template: template ?? "" }),
    ...(schema === undefined ? {} : { schema: schema ?? {} }),
    ...(resource === undefined ? {} : { resource }),
    ...(enabled === undefined ? {} : { enabled: enabled ?? true }),
  };
}
