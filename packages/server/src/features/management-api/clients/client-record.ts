/** An OAuth client on the wire (wire-contract.md §5), and back into an application's settings. */
import { jwsAlgorithms, type SigningAlg } from "@signet/protocol/jose/jws";
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import Type, { type Static } from "typebox";
import {
  type Application,
  type ApplicationSettings,
  accessModes,
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
import { acrValues } from "../../../core/sessions/session.ts";
import { wireTime } from "../../../http/api/times.ts";
import { secretRecord, secretSchema } from "./client-secret-record.ts";

const clientTypes = ["confidential", "public", "native", "spa"] as const satisfies readonly ClientType[];
const algorithms = Object.keys(jwsAlgorithms) as SigningAlg[];
const uris = () => Type.Array(Type.String());

/** What a client may be told to be; every member but the first two has a default. */
const members = {
  name: Type.String({ description: "as people see it on the consent page" }),
  clientType: Type.Enum([...clientTypes], { description: "chosen once" }),
  description: Type.String(),
  logoUri: Type.String(),
  homepageUri: Type.String(),
  redirectUris: uris(),
  postLogoutRedirectUris: uris(),
  returnUrls: Type.Array(Type.String(), { description: "where a federation login may return" }),
  grantTypes: Type.Array(Type.Enum([...grantTypes])),
  allowedScopes: Type.Array(Type.String()),
  tokenEndpointAuthMethod: Type.Enum([...tokenEndpointAuthMethods]),
  jwks: Type.Object(
    { keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) },
    { additionalProperties: false, description: "public keys for private_key_jwt; or jwksUri" },
  ),
  jwksUri: Type.String(),
  tlsClientAuthSanUri: Type.String({
    description:
      "with tls_client_auth: the URI of the one device that may speak for the client; any when absent",
  }),
  tlsClientCertificateBoundAccessTokens: Type.Boolean({
    description:
      "its tokens are good in the hands of the device alone that they were issued to (RFC 8705 §3)",
  }),
  RequireConsent: Type.Boolean({ description: "false is the same as consentMode preauthorized" }),
  consentMode: Type.Enum([...consentModes]),
  requirePkce: Type.Boolean(),
  AccessTokenLifetimeSeconds: Type.Integer({ description: "60 to 86400" }),
  RefreshTokenLifetimeSeconds: Type.Integer({ description: "300 to 31536000" }),
  idTokenSignedResponseAlg: Type.Enum(algorithms),
  accessTokenSignedResponseAlg: Type.Enum(algorithms),
  audience: Type.String({ description: "aud of access tokens; the issuer when absent" }),
  backchannelLogoutUri: Type.String(),
  contacts: Type.Array(Type.String()),
  enabled: Type.Boolean({ description: "false ends codes and refresh tokens, for good" }),
  access: Type.Enum([...accessModes]),
  requiredAcr: Type.Enum(Object.values(acrValues)),
  allowedResources: uris(),
  allowPermanentKeys: Type.Boolean(),
  requireSignedKeyCalls: Type.Boolean(),
  signingPoolId: Type.String({ description: "the pool whose agents sign its tokens; nobody else does then" }),
};

const { name, clientType, ...others } = members;

export const newClientSchema = Type.Object(
  { name, clientType, ...Type.Partial(Type.Object(others)).properties },
  { title: "NewClient", additionalProperties: false },
);
/** A full replacement: what is absent gets its default again. */
export const changedClientSchema = Type.Object(
  { name, ...Type.Partial(Type.Object({ clientType, ...others })).properties },
  { title: "ChangedClient", additionalProperties: false },
);

/** Ignored where they are sent back. */
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
    tlsClientAuthSanUri: absentAsNull(members.tlsClientAuthSanUri),
    audience: absentAsNull(members.audience),
    backchannelLogoutUri: absentAsNull(members.backchannelLogoutUri),
    requiredAcr: absentAsNull(members.requiredAcr),
    signingPoolId: absentAsNull(members.signingPoolId),
    secrets: Type.Array(secretSchema),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { title: "Client" },
);

/** The answer that made it: the secret's plaintext, this once. */
export const createdClientSchema = Type.Object(
  {
    ...clientSchema.properties,
    clientSecret: Type.Optional(absentAsNull(Type.String())),
  },
  { title: "CreatedClient" },
);

export function clientRecord({ id, name: called, clientType: type, settings, ...rest }: Application) {
  return {
    clientId: id,
    name: called,
    description: settings.description ?? null,
    logoUri: settings.logoUri ?? null,
    homepageUri: settings.homepageUri ?? null,
    clientType: type,
    redirectUris: settings.redirectUris,
    postLogoutRedirectUris: settings.postLogoutRedirectUris,
    returnUrls: settings.returnUrls,
    grantTypes: settings.grantTypes,
    allowedScopes: settings.allowedScopes,
    tokenEndpointAuthMethod: settings.tokenEndpointAuthMethod,
    jwks: settings.jwks ?? null,
    jwksUri: settings.jwksUri ?? null,
    tlsClientAuthSanUri: settings.tlsClientAuthSanUri ?? null,
    tlsClientCertificateBoundAccessTokens: settings.tlsClientCertificateBoundAccessTokens,
    RequireConsent: settings.requireConsent,
    consentMode: consentModeOf(settings),
    requirePkce: settings.requirePkce,
    AccessTokenLifetimeSeconds: settings.accessTokenLifetimeSeconds,
    RefreshTokenLifetimeSeconds: settings.refreshTokenLifetimeSeconds,
    idTokenSignedResponseAlg: settings.idTokenSignedResponseAlg,
    accessTokenSignedResponseAlg: settings.accessTokenSignedResponseAlg,
    audience: settings.audience ?? null,
    backchannelLogoutUri: settings.backchannelLogoutUri ?? null,
    contacts: settings.contacts,
    enabled: rest.disabledAt === null,
    access: settings.access,
    requiredAcr: settings.requiredAcr ?? null,
    allowedResources: settings.allowedResources,
    allowPermanentKeys: settings.allowPermanentKeys,
    requireSignedKeyCalls: settings.requireSignedKeyCalls,
    signingPoolId: settings.signingPoolId ?? null,
    secrets: rest.secrets.map(secretRecord),
    createdAt: wireTime(rest.createdAt),
    updatedAt: wireTime(rest.updatedAt),
  };
}

type NewClient = Static<typeof newClientSchema>;
type ChangedClient = Static<typeof changedClientSchema>;

const settingNames = {
  RequireConsent: "requireConsent",
  AccessTokenLifetimeSeconds: "accessTokenLifetimeSeconds",
  RefreshTokenLifetimeSeconds: "refreshTokenLifetimeSeconds",
} as const;

/** The wire's name of a setting. */
export const wireNameOf = (setting: string): string =>
  Object.entries(settingNames).find(([, inside]) => inside === setting)?.[0] ?? setting;

/** Those that the record does not name stay as they are, whoever replaces it. */
const unnamed = [
  "refreshTokenAbsoluteLifetimeSeconds",
  "refreshTokenGraceSeconds",
  "issueRefreshTokenWithoutOfflineAccess",
  "idTokenIncludesScopeClaims",
] as const satisfies ReadonlyArray<keyof ApplicationSettings>;

/** @param before undefined for a new client */
export function settingsOf(
  body: NewClient | ChangedClient,
  type: ClientType,
  before?: ApplicationSettings,
): ApplicationSettings {
  const { name: _name, clientType: _type, enabled: _enabled, ...sent } = body;
  const given = Object.fromEntries(
    Object.entries(sent).map(([member, value]) => [
      Object.hasOwn(settingNames, member) ? settingNames[member as keyof typeof settingNames] : member,
      value,
    ]),
  ) as Partial<ApplicationSettings>;
  const kept = before ? unnamed.map((member) => [member, before[member]] as const) : [];
  // Without users there is nothing that the five identity scopes could tell.
  const isService = given.grantTypes?.every((grant) => grant === "client_credentials") ?? false;
  return {
    ...defaultSettings(type),
    ...(isService ? { allowedScopes: [] } : {}),
    ...Object.fromEntries(kept),
    ...given,
    ...(before ? changedConsentMembers(given, before) : bothConsentMembers(given)),
  };
}
