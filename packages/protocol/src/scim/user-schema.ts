/** Users as SCIM has them (RFC 7643 §4.1 and §4.3). */
import type { Attribute, ResourceType, Schema } from "./attribute.ts";

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";
export const ENTERPRISE_SCHEMA = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

const text = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: "string",
  description,
  ...more,
});

const primary: Attribute = {
  name: "primary",
  type: "boolean",
  description: "The preferred one: at most one value has it",
};

/** A list of values that have a type, a display name, and at most one of them is primary (RFC 7643 §2.4). */
const list = (
  name: string,
  description: string,
  { value = {}, types, ...more }: Partial<Attribute> & { value?: Partial<Attribute>; types?: string[] } = {},
): Attribute => ({
  ...{ name, description, type: "complex", multiValued: true },
  subAttributes: [
    text("value", "The value itself", value),
    text("display", "What a person reads", { mutability: "readWrite" }),
    text("type", "What it is for", types === undefined ? {} : { canonicalValues: types }),
    primary,
  ],
  ...more,
});

const names: readonly Attribute[] = [
  text("formatted", "The whole name"),
  text("familyName", "Last name"),
  text("givenName", "First name"),
  text("middleName", "Middle names"),
  text("honorificPrefix", "E.g. Ms."),
  text("honorificSuffix", "E.g. III"),
];

const addressMembers: readonly Attribute[] = [
  text("formatted", "The whole address, lines separated by a line feed"),
  text("streetAddress", "Street and number"),
  text("locality", "City"),
  text("region", "State or region"),
  text("postalCode", "Postal code"),
  text("country", "ISO 3166-1 alpha-2"),
  text("type", "What it is for", { canonicalValues: ["work", "home", "other"] }),
  primary,
];

const groupMembers: readonly Attribute[] = [
  text("value", "The group's id", { mutability: "readOnly", caseExact: true }),
  {
    ...{ name: "$ref", type: "reference", referenceTypes: ["User", "Group"], mutability: "readOnly" },
    description: "The group's address",
  },
  text("display", "The group's name", { mutability: "readOnly" }),
  text("type", "Whether by another group", {
    mutability: "readOnly",
    canonicalValues: ["direct", "indirect"],
  }),
];

const userSchema: Schema = {
  id: USER_SCHEMA,
  name: "User",
  description: "A person with an account",
  attributes: [
    text("userName", "How the client calls the user: unique", { required: true, uniqueness: "server" }),
    { name: "name", type: "complex", description: "The parts of the name", subAttributes: names },
    text("displayName", "The name as it is shown"),
    text("nickName", "A casual name"),
    {
      ...{ name: "profileUrl", type: "reference", referenceTypes: ["external"] },
      description: "The address of a profile page",
    },
    text("title", "Job title"),
    text("userType", "E.g. Employee or Contractor"),
    text("preferredLanguage", "A language tag"),
    text("locale", "A language tag"),
    text("timezone", "A name of the time zone database"),
    { name: "active", type: "boolean", required: true, description: "Whether the user can sign in" },
    text("password", "Taken and ignored", { mutability: "writeOnly", returned: "never" }),
    list("emails", "Email addresses: the primary one is the account's", {
      ...{ types: ["work", "home", "other"], required: true, value: { required: true } },
    }),
    list("phoneNumbers", "Phone numbers", { types: ["work", "home", "mobile", "fax", "pager", "other"] }),
    list("ims", "Addresses for instant messages"),
    list("photos", "Addresses of pictures", {
      ...{ types: ["photo", "thumbnail"], value: { type: "reference", referenceTypes: ["external"] } },
    }),
    {
      ...{ name: "addresses", type: "complex", multiValued: true, description: "Postal addresses" },
      subAttributes: addressMembers,
    },
    {
      ...{ name: "groups", type: "complex", multiValued: true, mutability: "readOnly" },
      ...{ description: "Groups of the user, changed by the groups alone", subAttributes: groupMembers },
    },
    list("entitlements", "Kept, and grants nothing"),
    list("roles", "Kept, and grants nothing"),
    list("x509Certificates", "Certificates", { value: { type: "binary", caseExact: true } }),
  ],
};

const enterpriseSchema: Schema = {
  id: ENTERPRISE_SCHEMA,
  name: "EnterpriseUser",
  description: "What an enterprise keeps about a user",
  attributes: [
    text("employeeNumber", "The number that the organisation gave"),
    text("costCenter", "Cost centre"),
    text("organization", "Organisation"),
    text("division", "Division"),
    text("department", "Department"),
    {
      ...{ name: "manager", type: "complex", description: "Who the user reports to" },
      subAttributes: [
        text("value", "The manager's id"),
        { name: "$ref", type: "reference", referenceTypes: ["User"], description: "The manager's address" },
        text("displayName", "The manager's name", { mutability: "readOnly" }),
      ],
    },
  ],
};

export const userType: ResourceType = {
  name: "User",
  endpoint: "/Users",
  description: "User Account",
  core: userSchema,
  extensions: [enterpriseSchema],
  demanded: ["userName"],
};
