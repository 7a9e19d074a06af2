/** A protected resource on the wire (modern-oauth.md §6). */
import Type, { type Static } from "typebox";
import type { GivenScope } from "../../core/protected-resources/given-scopes.ts";
import {
  accessTokenFormats,
  MAX_IDENTIFIER,
  MAX_LIFETIME_SECONDS,
  MIN_LIFETIME_SECONDS,
  type ResourceSettings,
  type ResourceWithScopes,
  resourceDefaults,
  senderConstraints,
} from "../../core/protected-resources/protected-resource.ts";
import { MAX_SCOPES } from "../../core/scopes/custom-scopes.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { wireTime } from "../../http/api/times.ts";
import { changedScopeSchema, scopeContent, scopeRecord, scopeSchema } from "./scope-record.ts";

const scopeInside = strictObject({
  ...changedScopeSchema.properties,
  name: Type.String(),
  ...{ id: Type.Optional(Type.String()), createdAt: Type.Optional(Type.String()) },
});

const names = (description: string) =>
  Type.Array(Type.String({ maxLength: 100 }), { maxItems: MAX_SCOPES, description });

const settings = {
  enabled: Type.Boolean({ description: "Default: true. While it is false, no token is issued for it" }),
  accessTokenFormat: Type.Enum([...accessTokenFormats], {
    description: "Default: `jwt`. An opaque token is read by introspection alone",
  }),
  AccessTokenLifetimeSeconds: Type.Integer({
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
  agentDeniedScopes: names("What clients that nobody has registered by hand never get"),
};

const content = {
  identifier: Type.String({
    ...{ minLength: 1, maxLength: MAX_IDENTIFIER },
    description: "The value of `resource` and `aud`: an absolute URI without fragment (RFC 8707)",
  }),
  name: Type.String(),
  scopes: Type.Optional(
    Type.Array(Type.Union([Type.String({ maxLength: 100 }), scopeInside]), {
      maxItems: MAX_SCOPES,
      description: "Names of scopes of the organisation, or whole scopes, which are made or changed with it",
    }),
  ),
  ...Type.Partial(Type.Object(settings)).properties,
};

export const newResourceSchema = strictObject(content, { title: "NewResource" });
/** A full replacement: an omitted member returns to its default. */
export const changedResourceSchema = strictObject(content, { title: "ChangedResource" });

/** Ignored in request bodies. */
export const readOnlyMembers = ["id", "createdAt"] as const;

const orNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const resourceSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    identifier: Type.String(),
    name: Type.String(),
    scopes: Type.Array(scopeSchema),
    ...settings,
    AccessTokenLifetimeSeconds: orNull(settings.AccessTokenLifetimeSeconds),
    accessTokenSignedResponseAlg: orNull(settings.accessTokenSignedResponseAlg),
    applicationId: orNull(settings.applicationId),
    createdAt: Type.String({ format: "date-time" }),
  },
  { title: "Resource" },
);

export const resourceRecord = (resource: ResourceWithScopes) => ({
  id: resource.id,
  identifier: resource.identifier,
  name: resource.name,
  enabled: resource.enabled,
  scopes: resource.scopes.map(scopeRecord),
  accessTokenFormat: resource.accessTokenFormat,
  AccessTokenLifetimeSeconds: resource.accessTokenLifetimeSeconds,
  accessTokenSignedResponseAlg: resource.accessTokenAlg,
  senderConstraint: resource.senderConstraint,
  applicationId: resource.applicationId,
  agentDeniedScopes: resource.agentDeniedScopes,
  createdAt: wireTime(resource.createdAt),
});

type Sent = Static<typeof changedResourceSchema>;

export const resourceSettings = (sent: Sent): ResourceSettings => ({
  ...resourceDefaults,
  identifier: sent.identifier,
  name: sent.name,
  enabled: sent.enabled ?? resourceDefaults.enabled,
  accessTokenFormat: sent.accessTokenFormat ?? resourceDefaults.accessTokenFormat,
  accessTokenLifetimeSeconds: sent.AccessTokenLifetimeSeconds ?? null,
  accessTokenAlg: (sent.accessTokenSignedResponseAlg ?? null) as ResourceSettings["accessTokenAlg"],
  senderConstraint: sent.senderConstraint ?? resourceDefaults.senderConstraint,
  applicationId: sent.applicationId?.toLowerCase() ?? null,
  agentDeniedScopes: sent.agentDeniedScopes ?? [],
});

/** @throws ApiError 422 */
export const givenScopes = ({ scopes = [] }: Sent): GivenScope[] =>
  scopes.map((one) => {
    if (typeof one === "string") return { name: one };
    const { name, id: _, createdAt: __, ...members } = one;
    return { name, content: scopeContent(name, members) };
  });
