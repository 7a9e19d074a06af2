/** An OAuth client on the wire (wire-contract.md §5), and back into an application's settings. */
import { type TokenAlg, tokenAlgorithms } from "@signet/protocol/jose/jws";
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import Type, { type Static } from "typebox";
import {
  type Application,
  type ApplicationSettings,
  accessModes,
  accessTokenTypes,
  consentModes,
  defaultSettings,
  grantTypes,
  tokenEndpointAuthMethods,
} from "../../../core/applications/application.ts";
import {
  bothConsentMembers,
  changedConsentMembers,
  consentModeOf,
} from "../../../core/applications/consent-mode.ts";
import { optionalSecuritySchemas, securitySchemas } from "../../../core/applications/security-schemas.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { secretRecord, secretSchema } from "./client-secret-record.ts";

const clientTypes = ["confidential", "public", "native", "spa"] as const satisfies readonly ClientType[];
const algorithms = Object.keys(tokenAlgorithms) as TokenAlg[];
const uris = () => Type.Array(Type.String());

/** The members of a client; all but the first two have defaults. */
const members = {
  name: Type.String({ description: "Shown on the consent page" }),
  clientType: Type.Enum([...clientTypes], { description: "Cannot be changed" }),
  description: Type.String(),
  logoUri: Type.String(),
  homepageUri: Type.String(),
  redirectUris: uris(),
  postLogoutRedirectUris: uris(),
  returnUrls: Type.Array(Type.String(), { description: "Where a federation login may return to" }),
  grantTypes: Type.Array(Type.Enum([...grantTypes])),
  allowedScopes: Type.Array(Type.String(), {
    description: "Standard scopes, and scopes of the organisation",
  }),
  tokenEndpointAuthMethod: Type.Enum([...tokenEndpointAuthMethods]),
  jwks: Type.Object(
    { keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) },
    {
      additionalProperties: false,
      description:
        "Public keys for private_key_jwt, with certificates (`x5c`) for self_signed_tls_client_auth; or jwksUri",
    },
  ),
  jwksUri: Type.String(),
  tlsClientCertificateBoundAccessTokens: Type.Boolean({
    description: "Tokens are bound to the client certificate of the device that requested them (RFC 8705 §3)",
  }),
  RequireConsent: Type.Boolean({ description: "`false` equals consentMode `preauthorized`" }),
  consentMode: Type.Enum([...consentModes]),
  requirePkce: Type.Boolean(),
  requireNonceWithoutPkce: Type.Boolean({
    description: "With requirePkce `false`: a request without PKCE must have a nonce and the scope openid",
  }),
  AccessTokenLifetimeSeconds: Type.Integer({ description: "60 to 86400" }),
  RefreshTokenLifetimeSeconds: Type.Integer({ description: "300 to 31536000" }),
  refreshTokenAbsoluteLifetimeSeconds: Type.Integer({
    description: "300 to 31536000, for the token and all its successors",
  }),
  refreshTokenGraceSeconds: Type.Integer({
    description:
      "0 to 60: when a repeated refresh, whose successor is unused, counts as late; 0 rejects every repeat",
  }),
  issueRefreshTokenWithoutOfflineAccess: Type.Boolean(),
  idTokenSignedResponseAlg: Type.Enum(algorithms),
  accessTokenSignedResponseAlg: Type.Enum(algorithms),
  idTokenIncludesScopeClaims: Type.Boolean(),
  accessTokenType: Type.Enum([...accessTokenTypes], {
    description: "The header `typ` of access tokens; JWT for resource servers that refuse at+jwt",
  }),
  audience: Type.String({ description: "`aud` of access tokens; default: the issuer" }),
  backchannelLogoutUri: Type.String(),
  contacts: Type.Array(Type.String()),
  enabled: Type.Boolean({ description: "`false` revokes codes and refresh tokens permanently" }),
  access: Type.Enum([...accessModes]),
  requiredAcr: Type.Enum(Object.values(acrValues)),
  allowedResources: uris(),
  allowPermanentKeys: Type.Boolean(),
  requireSignedKeyCalls: Type.Boolean(),
  signingPoolId: Type.String({ description: "The signing pool whose agents sign its tokens" }),
  ...securitySchemas,
};

const { name, clientType, ...others } = members;

export const newClientSchema = strictObject(
  { name, clientType, ...Type.Partial(Type.Object(others)).properties },
  { title: "NewClient" },
);
/** A full replacement: an omitted member returns to its default. */
export const changedClientSchema = strictObject(
  { name, ...Type.Partial(Type.Object({ clientType, ...others })).properties },
  { title: "ChangedClient" },
);

/** Ignored in request bodies. */
export const readOnlyMembers = ["clientId", "secrets", "clientSecret", "createdAt", "updatedAt"] as const;

const absentAsNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const clientSchema = Type.Object(
  {
    clientId: Type.String({ format: "uuid" }),
    ...members,
    description: absentAsNull(members.description),
    logoUri: absentAsNull(members.logoUri),
    homepageUri: absentAsNull(members.homepageUri),
    jwks: absentAsNull(members.jwks),
    jwksUri: absentAsNull(members.jwksUri),
    audience: absentAsNull(members.audience),
    backchannelLogoutUri: absentAsNull(members.backchannelLogoutUri),
    requiredAcr: absentAsNull(members.requiredAcr),
    signingPoolId: absentAsNull(members.signingPoolId),
    ...Object.fromEntries(
      Object.entries(optionalSecuritySchemas).map(([name, schema]) => [name, absentAsNull(schema)]),
    ),
    secrets: Type.Array(secretSchema),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { title: "Client" },
);

/** The only response with the secret's plaintext. */
export const createdClientSchema = Type.Object(
  { ...clientSchema.properties, clientSecret: Type.Optional(absentAsNull(Type.String())) },
  { title: "CreatedClient" },
);

type NewClient = Static<typeof newClientSchema>;
type ChangedClient = Static<typeof changedClientSchema>;

const settingNames = {
  RequireConsent: "requireConsent",
  AccessTokenLifetimeSeconds: "accessTokenLifetimeSeconds",
  RefreshTokenLifetimeSeconds: "refreshTokenLifetimeSeconds",
} as const;

export const wireNameOf = (setting: string): string =>
  Object.entries(settingNames).find(([, inside]) => inside === setting)?.[0] ?? setting;

/** The setting behind a member of the wire. */
const settingOf = (member: string): string =>
  Object.hasOwn(settingNames, member) ? settingNames[member as keyof typeof settingNames] : member;

export function clientRecord({ id, name: called, clientType: type, settings, ...rest }: Application) {
  const values: Readonly<Record<string, unknown>> = { ...settings };
  const listed = Object.keys(others).map((member) => [member, values[settingOf(member)] ?? null]);
  return {
    clientId: id,
    name: called,
    clientType: type,
    ...Object.fromEntries(listed),
    consentMode: consentModeOf(settings),
    enabled: rest.disabledAt === null,
    secrets: rest.secrets.map(secretRecord),
    createdAt: wireTime(rest.createdAt),
    updatedAt: wireTime(rest.updatedAt),
  };
}

/** @param before undefined for a new client */
export function settingsOf(
  body: NewClient | ChangedClient,
  type: ClientType,
  before?: ApplicationSettings,
): ApplicationSettings {
  const { name: _name, clientType: _type, enabled: _enabled, ...sent } = body;
  const given = Object.fromEntries(
    Object.entries(sent).map(([member, value]) => [settingOf(member), value]),
  ) as Partial<ApplicationSettings>;
  // Without users, the identity scopes have nothing to release.
  const isService = given.grantTypes?.every((grant) => grant === "client_credentials") ?? false;
  return {
    ...defaultSettings(type),
    // What this API does not show stays.
    ...(before ? { groupsClaim: before.groupsClaim, groupsClaimValue: before.groupsClaimValue } : {}),
    ...(before?.shared ? { shared: before.shared } : {}),
    ...(isService ? { allowedScopes: [] } : {}),
    ...given,
    ...(before ? changedConsentMembers(given, before) : bothConsentMembers(given)),
  };
}
