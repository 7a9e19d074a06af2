/** An application as API v1 shows it, and back into its settings. */
import { type TokenAlg, tokenAlgorithms } from "@signet/protocol/jose/jws";
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import Type, { type TSchema } from "typebox";
import {
  type Application,
  type ApplicationSettings,
  accessModes,
  accessTokenTypes,
  consentModes,
  defaultSettings,
  grantTypes,
  groupsClaims,
  groupsClaimValues,
  tokenEndpointAuthMethods,
} from "../../../core/applications/application.ts";
import {
  bothConsentMembers,
  changedConsentMembers,
  consentModeOf,
} from "../../../core/applications/consent-mode.ts";
import {
  optionalSecuritySchemas,
  valuedSecuritySchemas,
} from "../../../core/applications/security-schemas.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import { mergePatch } from "../../../http/api/merge-patch.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { patchSchema } from "../frame/patch-schema.ts";
import { secretRecord, secretSchema } from "./secret-record.ts";

export const clientTypes = [
  ...(["confidential", "public", "native", "spa"] as const),
] as const satisfies readonly ClientType[];
const algorithms = Object.keys(tokenAlgorithms) as TokenAlg[];
const uris = () => Type.Array(Type.String());

/** Settings that have a value in every record, by kind. */
const valued = {
  redirectUris: uris(),
  postLogoutRedirectUris: uris(),
  returnUrls: Type.Array(Type.String(), { description: "Where a federation login may return to" }),
  grantTypes: Type.Array(Type.Enum([...grantTypes])),
  allowedScopes: Type.Array(Type.String(), {
    description:
      "Standard scopes, scopes of the organisation, and scopes of this API that the caller has itself",
  }),
  tokenEndpointAuthMethod: Type.Enum([...tokenEndpointAuthMethods]),
  tlsClientCertificateBoundAccessTokens: Type.Boolean({
    description: "Tokens are bound to the certificate of the device that requested them (RFC 8705 §3)",
  }),
  requireConsent: Type.Boolean({ description: "`false` equals consentMode `preauthorized`" }),
  consentMode: Type.Enum([...consentModes]),
  requirePkce: Type.Boolean(),
  requireNonceWithoutPkce: Type.Boolean(),
  accessTokenLifetimeSeconds: Type.Integer({ description: "60 to 86400" }),
  refreshTokenLifetimeSeconds: Type.Integer({ description: "300 to 31536000" }),
  refreshTokenAbsoluteLifetimeSeconds: Type.Integer({
    description: "300 to 31536000, for the token and all its successors",
  }),
  refreshTokenGraceSeconds: Type.Integer({ description: "0 to 60" }),
  issueRefreshTokenWithoutOfflineAccess: Type.Boolean(),
  idTokenSignedResponseAlg: Type.Enum(algorithms),
  accessTokenSignedResponseAlg: Type.Enum(algorithms),
  idTokenIncludesScopeClaims: Type.Boolean(),
  accessTokenType: Type.Enum([...accessTokenTypes]),
  contacts: uris(),
  access: Type.Enum([...accessModes]),
  allowedResources: uris(),
  allowPermanentKeys: Type.Boolean(),
  requireSignedKeyCalls: Type.Boolean(),
  groupsClaim: Type.Enum([...groupsClaims], {
    description: "`groups` in tokens: those on a path to access or a role here, or all",
  }),
  groupsClaimValue: Type.Enum([...groupsClaimValues]),
  ...valuedSecuritySchemas,
};

/** Settings that may be unset. */
const optional = {
  description: Type.String(),
  logoUri: Type.String(),
  homepageUri: Type.String(),
  jwks: Type.Object(
    { keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) },
    { additionalProperties: false, description: "Public keys, or jwksUri" },
  ),
  jwksUri: Type.String(),
  audience: Type.String({ description: "`aud` of access tokens; default: the issuer" }),
  backchannelLogoutUri: Type.String(),
  requiredAcr: Type.Enum(Object.values(acrValues)),
  signingPoolId: Type.String({ description: "The signing pool whose agents sign its tokens" }),
  ...optionalSecuritySchemas,
  shared: Type.Object(
    { organisations: Type.Union([Type.Literal("any"), Type.Array(Type.String({ format: "uuid" }))]) },
    { additionalProperties: false, description: "Which other organisations may enable it" },
  ),
};

const enabled = Type.Boolean({ description: "`false` revokes codes and refresh tokens permanently" });
const settable = { name: Type.String(), ...optional, ...valued, enabled };

export const newApplication = strictObject(
  {
    name: settable.name,
    clientType: Type.Enum([...clientTypes], { description: "Cannot be changed" }),
    ...Type.Partial(Type.Object({ ...optional, ...valued, enabled })).properties,
  },
  { title: "ApiNewApplication" },
);
export const applicationPatch = patchSchema(settable, { title: "ApiApplicationChange" });

const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);

export const applicationSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    clientId: Type.String({ format: "uuid", description: "The same" }),
    name: settable.name,
    clientType: Type.Enum([...clientTypes]),
    ...(Object.fromEntries(
      Object.entries(optional).map(([name, schema]) => [name, orNull(schema)]),
    ) as Record<keyof typeof optional, ReturnType<typeof orNull>>),
    ...valued,
    enabled,
    sharedBy: Type.Union([Type.String({ format: "uuid" }), Type.Null()], {
      description: "The organisation whose application it is; null for the organisation's own",
    }),
    secrets: Type.Array(secretSchema),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { title: "ApiApplication" },
);

/** The only answer with the plaintext. */
export const createdApplication = Type.Object(
  { ...applicationSchema.properties, clientSecret: Type.Optional(orNull(Type.String())) },
  { title: "ApiCreatedApplication" },
);

export function applicationRecord({ id, name, clientType, settings, ...rest }: Application) {
  const values: Readonly<Record<string, unknown>> = { ...settings };
  const listed = Object.keys({ ...optional, ...valued }).map((member) => [member, values[member] ?? null]);
  return {
    ...{ id, clientId: id, name, clientType },
    ...Object.fromEntries(listed),
    consentMode: consentModeOf(settings),
    enabled: rest.disabledAt === null,
    sharedBy: rest.homeOrgId,
    secrets: rest.secrets.map(secretRecord),
    createdAt: wireTime(rest.createdAt),
    updatedAt: wireTime(rest.updatedAt),
  };
}

type Sent = Readonly<Record<string, unknown>>;

const notSettings: readonly string[] = ["name", "clientType", "enabled"];
const settingsIn = (sent: Sent) => Object.entries(sent).filter(([name]) => !notSettings.includes(name));

/** Of a new application. */
export function newSettings(body: Sent, type: ClientType): ApplicationSettings {
  const given = Object.fromEntries(settingsIn(body)) as Partial<ApplicationSettings>;
  // Without users, the identity scopes have nothing to release.
  const isService = given.grantTypes?.every((grant) => grant === "client_credentials") ?? false;
  return {
    ...defaultSettings(type),
    ...(isService ? { allowedScopes: [] } : {}),
    ...given,
    ...bothConsentMembers(given),
  };
}

/** @param patch null: as a new application has it */
export function patchedSettings(
  { settings: before, clientType }: Pick<Application, "settings" | "clientType">,
  patch: Sent,
): ApplicationSettings {
  const defaults: Sent = { ...defaultSettings(clientType) };
  const next: Record<string, unknown> = { ...before };
  for (const [name, value] of settingsIn(patch)) {
    const merged = value === null ? defaults[name] : mergePatch(next[name], value);
    if (merged === undefined) delete next[name];
    else next[name] = merged;
  }
  const changed = next as unknown as ApplicationSettings;
  return { ...changed, ...consentMembers(patch, changed, before) };
}

function consentMembers(patch: Sent, after: ApplicationSettings, before: ApplicationSettings) {
  const { requireConsent, consentMode } = patch;
  if (requireConsent === undefined && consentMode === undefined) return {};
  // Both were sent: a contradiction is a fault, and not for us to resolve.
  if (typeof requireConsent === "boolean" && typeof consentMode === "string") return {};
  if (typeof consentMode === "string")
    return bothConsentMembers({ consentMode: after.consentMode ?? "user" });
  return changedConsentMembers({ requireConsent: after.requireConsent }, before);
}
