/** Attributes, schemas and resource types of SCIM (RFC 7643 §2 and §7), as data that everything else reads. */

export type AttributeType =
  | "string"
  | "boolean"
  | "decimal"
  | "integer"
  | "dateTime"
  | "reference"
  | "binary"
  | "complex";

export interface Attribute {
  readonly name: string;
  readonly type: AttributeType;
  readonly description: string;
  readonly multiValued?: boolean;
  readonly required?: boolean;
  readonly caseExact?: boolean;
  /** Default: `readWrite`. */
  readonly mutability?: "readOnly" | "readWrite" | "immutable" | "writeOnly";
  /** Default: `default`. */
  readonly returned?: "always" | "never" | "default" | "request";
  readonly uniqueness?: "none" | "server" | "global";
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
}

export interface Schema {
  /** A URN. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

export interface ResourceType {
  readonly name: "User" | "Group";
  readonly endpoint: "/Users" | "/Groups";
  readonly description: string;
  readonly core: Schema;
  readonly extensions: readonly Schema[];
  /** Without these nothing is created: a schema may publish more as required than this service demands. */
  readonly demanded: readonly string[];
}

/** A SCIM resource in normal form: names in the schema's case, an extension's attributes under its URN. */
export type Resource = Record<string, unknown>;

/** RFC 7644 §3.12. */
export type ScimType =
  | "invalidFilter"
  | "tooMany"
  | "uniqueness"
  | "mutability"
  | "invalidSyntax"
  | "invalidPath"
  | "noTarget"
  | "invalidValue"
  | "invalidVers"
  | "sensitive"
  /** RFC 9865 §2.1. */
  | "invalidCursor"
  | "expiredCursor"
  | "invalidCount";

export class ScimFault extends Error {
  override readonly name = "ScimFault";
  readonly status: number;
  readonly scimType: ScimType | undefined;
  constructor(status: number, scimType: ScimType | undefined, detail: string) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export const fault = (scimType: ScimType, detail: string): ScimFault =>
  new ScimFault(scimType === "uniqueness" ? 409 : 400, scimType, detail);

/** Common to all resources (RFC 7643 §3.1); `schemas` because filters may name it. */
const common: readonly Attribute[] = [
  {
    ...{ name: "schemas", type: "reference", multiValued: true, caseExact: true, mutability: "readOnly" },
    ...{ returned: "always", description: "Schemas of the resource" },
  },
  {
    ...{ name: "id", type: "string", caseExact: true, mutability: "readOnly", returned: "always" },
    ...{ uniqueness: "server", description: "This service's id of the resource" },
  },
  { name: "externalId", type: "string", caseExact: true, description: "The client's id of the resource" },
  {
    ...{ name: "meta", type: "complex", mutability: "readOnly", description: "About the resource itself" },
    subAttributes: [
      {
        name: "resourceType",
        type: "string",
        caseExact: true,
        mutability: "readOnly",
        description: "Its type",
      },
      { name: "created", type: "dateTime", mutability: "readOnly", description: "When it was made" },
      { name: "lastModified", type: "dateTime", mutability: "readOnly", description: "When it last changed" },
      {
        name: "location",
        type: "reference",
        caseExact: true,
        mutability: "readOnly",
        description: "Its address",
      },
      { name: "version", type: "string", caseExact: true, mutability: "readOnly", description: "Its ETag" },
    ],
  },
];

/** Names have no case (RFC 7643 §2.1). */
export const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

export const findIn = (attributes: readonly Attribute[], name: string): Attribute | undefined =>
  attributes.find((attribute) => sameName(attribute.name, name));

/** @param urn without one, the resource's own schema and what is common to all. @returns undefined for an unknown one */
export function attributesOf(type: ResourceType, urn: string | undefined): readonly Attribute[] | undefined {
  if (urn === undefined || sameName(urn, type.core.id)) return [...type.core.attributes, ...common];
  return type.extensions.find(({ id }) => sameName(id, urn))?.attributes;
}

/** The extension of that URN, in any case. */
export const extensionOf = (type: ResourceType, urn: string): Schema | undefined =>
  type.extensions.find(({ id }) => sameName(id, urn));

/** As JSON.parse makes them: no array, no null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
