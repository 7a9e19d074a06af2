/** A type of authorization details on the wire (modern-oauth.md §6). */
import Type, { type Static } from "typebox";
import type { DetailType } from "../../core/authorization-details/detail-type.ts";
import type { DetailTypeContent } from "../../core/authorization-details/detail-types.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { wireTime } from "../../http/api/times.ts";

const content = {
  displayName: Type.String({ description: "As the consent page calls it" }),
  template: Type.String({
    description: "The sentence of the consent page, with members of the details in braces",
    examples: ["Pay {amount.value} to {creditor}"],
  }),
  schema: Type.Record(Type.String(), Type.Unknown(), {
    description:
      "JSON Schema 2020-12 of the details, at most 16 KiB; references stay within it. Says nothing of `type`, or what it may be",
  }),
  resource: Type.Optional(
    Type.String({
      description: "The API that understands the details (RFC 8707): the target of their tokens",
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ description: "Default: true" })),
};

const type = Type.String({ description: "As requests name it (RFC 9396); cannot be changed" });

export const newDetailTypeSchema = strictObject(
  { type, ...content },
  { title: "NewAuthorizationDetailType" },
);
/** A full replacement: an omitted member returns to its default. */
export const changedDetailTypeSchema = strictObject(
  { type: Type.Optional(type), ...content },
  { title: "ChangedAuthorizationDetailType" },
);

/** Ignored in request bodies. */
export const readOnlyMembers = ["id", "createdAt"] as const;

export const detailTypeSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    type: Type.String(),
    displayName: Type.String(),
    template: Type.String(),
    schema: Type.Record(Type.String(), Type.Unknown()),
    resource: Type.Optional(Type.String()),
    enabled: Type.Boolean(),
    createdAt: Type.String({ format: "date-time" }),
  },
  { title: "AuthorizationDetailType" },
);

export const detailTypeRecord = (type: DetailType) => ({
  id: type.id,
  type: type.type,
  displayName: type.displayName,
  template: type.template,
  schema: type.schema,
  ...(type.resource === null ? {} : { resource: type.resource }),
  enabled: type.enabled,
  createdAt: wireTime(type.createdAt),
});

export const detailTypeContent = ({
  displayName,
  template,
  schema,
  resource = "",
  enabled = true,
}: Static<typeof changedDetailTypeSchema>): DetailTypeContent => ({
  ...{ displayName, template, schema, enabled },
  resource: resource === "" ? null : resource,
});
