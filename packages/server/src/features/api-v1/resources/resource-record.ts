/** A protected resource as API v1 shows it. */
import Type, { type Static } from "typebox";
import type { GivenScope } from "../../../core/protected-resources/given-scopes.ts";
import {
  accessTokenFormats,
  MAX_IDENTIFIER,
  MAX_LIFETIME_SECONDS,
  MIN_LIFETIME_SECONDS,
  type ResourceSettings,
  type ResourceWithScopes,
  resourceDefaults,
  senderConstraints,
} from "../../../core/protected-resources/protected-resource.ts";
import { MAX_SCOPES } from "../../../core/scopes/custom-scopes.ts";
import { invalid } from "../../../http/api/api-error.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { type PatchOf, patchSchema } from "../frame/patch-schema.ts";
import { memoryFields } from "../lists/list-fields.ts";
import { newScope, scopeContent, scopeRecord, scopeSchema } from "../scopes/scope-record.ts";

const orNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const ignored = Type.Optional(Type.String());

const { name: scopeName, ...scopeMembers } = newScope.properties;
const scopeInside = strictObject({
  name: scopeName,
  ...{ id: ignored, createdAt: ignored, updatedAt: ignored },
  ...Object.fromEntries(
    Object.entries(scopeMembers).map(([member, schema]) => [member, Type.Optional(orNull(schema))]),
  ),
});

const scopes = Type.Array(Type.Union([Type.String({ maxLength: 100 }), scopeInside]), {
  maxItems: MAX_SCOPES,
  description: "Names of scopes of the organisation, or whole scopes, which are made or changed with it",
});

const required = {
  identifier: Type.String({
    ...{ minLength: 1, maxLength: MAX_IDENTIFIER },
    description: "The value of `resource` and `aud`: an absolute URI without fragment (RFC 8707)",
  }),
  name: Type.String(),
};

const optional = {
  enabled: Type.Boolean({ description: "Default: true. While it is false, no token is issued for it" }),
  accessTokenFormat: Type.Enum([...accessTokenFormats], {
    description: "Default: `jwt`. An opaque token is read by introspection alone",
  }),
  accessTokenLifetimeSeconds: Type.Integer({
    ...{ minimum: MIN_LIFETIME_SECONDS, maximum: MAX_LIFETIME_SECONDS },
    description: "Default: the application's",
  }),
  accessTokenSignedResponseAlg: Type.String({ description: "Default: the application's" }),
  senderConstraint: Type.Enum([...senderConstraints], {
    description: "Default: `none`. What its tokens are bound to: a key (DPoP), a certificate, either",
  }),
  applicationId: Type.String({
    format: "uuid",
    description: "The application that it is: may introspect its tokens, which tell the roles in it",
  }),
  agentDeniedScopes: Type.Array(Type.String({ maxLength: 100 }), {
    maxItems: MAX_SCOPES,
    description: "What clients that nobody has registered by hand never get",
  }),
};

export const newResource = strictObject(
  { ...required, ...Type.Partial(Type.Object({ scopes, ...optional })).properties },
  { title: "ApiNewResource" },
);
export const resourcePatch = patchSchema(
  { ...required, scopes, ...optional },
  { title: "ApiResourceChange" },
);

export const resourceSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    ...required,
    scopes: Type.Array(scopeSchema),
    ...optional,
    accessTokenLifetimeSeconds: orNull(optional.accessTokenLifetimeSeconds),
    accessTokenSignedResponseAlg: orNull(optional.accessTokenSignedResponseAlg),
    applicationId: orNull(optional.applicationId),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { title: "ApiResource" },
);

export const resourceFields = memoryFields({
  ...({ id: "text", identifier: "text", name: "text", enabled: "boolean" } as const),
  ...({ accessTokenFormat: "text", accessTokenLifetimeSeconds: "number" } as const),
  ...({ accessTokenSignedResponseAlg: "text", senderConstraint: "text", applicationId: "text" } as const),
  ...({ createdAt: "time", updatedAt: "time" } as const),
});

export const resourceRecord = (resource: ResourceWithScopes) => ({
  id: resource.id,
  identifier: resource.identifier,
  name: resource.name,
  enabled: resource.enabled,
  scopes: resource.scopes.map(scopeRecord),
  accessTokenFormat: resource.accessTokenFormat,
  accessTokenLifetimeSeconds: resource.accessTokenLifetimeSeconds,
  accessTokenSignedResponseAlg: resource.accessTokenAlg,
  senderConstraint: resource.senderConstraint,
  applicationId: resource.applicationId,
  agentDeniedScopes: resource.agentDeniedScopes,
  createdAt: wireTime(resource.createdAt),
  updatedAt: wireTime(resource.updatedAt),
});

type Sent = PatchOf<typeof required & { scopes: typeof scopes } & typeof optional>;

/** Of what was sent; null: as if it had never been set. @throws ApiError 422 */
export function sentSettings(sent: Sent): Partial<ResourceSettings> {
  const { scopes: _, accessTokenSignedResponseAlg, ...others } = sent;
  for (const member of ["identifier", "name"] as const)
    if (sent[member] === null) throw invalid([{ path: `/${member}`, message: "cannot be unset" }]);
  const settings = { ...others, accessTokenAlg: accessTokenSignedResponseAlg };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  const defaults: Readonly<Record<string, unknown>> = resourceDefaults;
  return Object.fromEntries(
    given.map(([member, value]) => [member, value === null ? defaults[member] : value]),
  ) as Partial<ResourceSettings>;
}

type SentScope = string | (Static<typeof newScope> & Record<string, unknown>);

/** @returns undefined when the request says nothing of them. @throws ApiError 422 */
export function sentScopes({ scopes: sent }: Sent): GivenScope[] | undefined {
  if (sent === undefined) return undefined;
  return ((sent ?? []) as readonly SentScope[]).map((one) => {
    if (typeof one === "string") return { name: one };
    const { displayName, description, claims, sensitive } = one;
    return {
      name: one.name,
      content: scopeContent(one.name, { displayName, description, claims, sensitive } as Parameters<
        typeof scopeContent
      >[1]),
    };
  });
}
