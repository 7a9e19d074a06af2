/** Groups as SCIM has them (RFC 7643 §4.2). */
import type { ResourceType, Schema } from "./attribute.ts";

export const GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group";

const groupSchema: Schema = {
  id: GROUP_SCHEMA,
  name: "Group",
  description: "A group of users and groups",
  attributes: [
    {
      ...{ name: "displayName", type: "string", required: true, uniqueness: "server" },
      description: "The group's name: unique",
    },
    {
      ...{ name: "members", type: "complex", multiValued: true, description: "Who belongs to the group" },
      subAttributes: [
        {
          ...{ name: "value", type: "string", caseExact: true, mutability: "immutable" },
          description: "The member's id",
        },
        {
          ...{ name: "$ref", type: "reference", referenceTypes: ["User", "Group"], mutability: "immutable" },
          description: "The member's address",
        },
        {
          ...{ name: "type", type: "string", mutability: "immutable", canonicalValues: ["User", "Group"] },
          description: "What the member is",
        },
      ],
    },
  ],
};

export const groupType: ResourceType = {
  name: "Group",
  endpoint: "/Groups",
  description: "Group",
  core: groupSchema,
  extensions: [],
  demanded: ["displayName"],
};
