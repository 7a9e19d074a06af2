/** What the service can do (RFC 7643 §5 to §7). */
import { type Attribute, type ResourceType, type Schema, ScimFault } from "@signet/protocol/scim/attribute";
import { MAX_BULK_BYTES, MAX_BULK_OPERATIONS } from "./bulk-limits.ts";

const CONFIG_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig";
const TYPE_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:ResourceType";
const SCHEMA_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Schema";
export const LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse";

export const serviceProviderConfig = (root: string) => ({
  schemas: [CONFIG_SCHEMA],
  patch: { supported: true },
  bulk: { supported: true, maxOperations: MAX_BULK_OPERATIONS, maxPayloadSize: MAX_BULK_BYTES },
  filter: { supported: true, maxResults: 200 },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  pagination: {
    cursor: true,
    index: true,
    defaultPaginationMethod: "index",
    defaultPageSize: 100,
    maxPageSize: 200,
  },
  authenticationSchemes: [
    {
      ...{ type: "oauthbearertoken", name: "Bearer token", primary: true },
      description: "A token of the connection, made in the console",
      specUri: "https://www.rfc-editor.org/rfc/rfc6750",
    },
  ],
  meta: { resourceType: "ServiceProviderConfig", location: `${root}/ServiceProviderConfig` },
});

export const resourceTypes = (root: string, types: readonly ResourceType[]) =>
  types.map(({ name, endpoint, description, core, extensions }) => ({
    ...{ schemas: [TYPE_SCHEMA], id: name, name, endpoint, description, schema: core.id },
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: "ResourceType", location: `${root}/ResourceTypes/${name}` },
  }));

export const schemas = (root: string, types: readonly ResourceType[]) =>
  types.flatMap(({ core, extensions }) => [core, ...extensions]).map((schema) => shownSchema(root, schema));

const shownSchema = (root: string, { id, name, description, attributes }: Schema) => ({
  ...{ schemas: [SCHEMA_SCHEMA], id, name, description },
  attributes: attributes.map(shownAttribute),
  meta: { resourceType: "Schema", location: `${root}/Schemas/${id}` },
});

/** Every characteristic, those with their default as well (RFC 7643 §7). */
function shownAttribute({ subAttributes, ...attribute }: Attribute): object {
  return {
    ...{ multiValued: false, required: false, caseExact: false, mutability: "readWrite" },
    ...{ returned: "default", uniqueness: "none", ...attribute },
    ...(subAttributes && { subAttributes: subAttributes.map(shownAttribute) }),
  };
}

/** @throws ScimFault 404 */
export function oneOf<T extends { readonly id: string }>(all: readonly T[], id: string): T {
  const found = all.find((one) => one.id.toLowerCase() === id.toLowerCase());
  if (!found) throw new ScimFault(404, undefined, "There is no such document.");
  return found;
}

export const listOf = (resources: readonly object[]) => ({
  ...{ schemas: [LIST_SCHEMA], totalResults: resources.length, startIndex: 1 },
  ...{ itemsPerPage: resources.length, Resources: resources },
});
