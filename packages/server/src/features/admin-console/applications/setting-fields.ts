/** The settings of an application: the control of each member. The tab and the card of each are in record-tabs.ts. */
import { tokenAlgorithms } from "@signet/protocol/jose/jws";
import {
  accessModes,
  accessTokenTypes,
  cibaGrantType,
  consentModes,
  deviceCodeGrantType,
  type GrantType,
  grantTypes,
  groupsClaims,
  groupsClaimValues,
  jwtBearerGrantType,
  tokenEndpointAuthMethods,
  tokenExchangeGrantType,
} from "../../../core/applications/application.ts";
import {
  declaredSettings,
  defaultOf,
  type SecuritySetting,
  securitySettings,
} from "../../../core/applications/security-settings.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export type SettingId = keyof Messages["console"]["applicationSettings"]["fields"];

export type Control =
  | { readonly kind: "text"; readonly isCode?: boolean; readonly isRequired?: boolean }
  | { readonly kind: "prose" }
  /** One address a row. */
  | { readonly kind: "uris"; readonly check?: "redirect-uris" | "return-urls" }
  /** One value a line. */
  | { readonly kind: "lines" }
  | { readonly kind: "seconds" }
  | { readonly kind: "check" }
  | { readonly kind: "radio" | "select"; readonly values: readonly string[]; readonly hasNone?: boolean }
  | { readonly kind: "several"; readonly values: readonly string[] }
  | { readonly kind: "scopes" | "pool" | "jwks" }
  /** Which other organisations: none, any, or some, whose ids follow one a line. */
  | { readonly kind: "shared"; readonly values: readonly string[] };

/** Names for forms: a URN is no valid element id. */
export const grantNames = {
  authorization_code: "authorization_code",
  refresh_token: "refresh_token",
  client_credentials: "client_credentials",
  device_code: deviceCodeGrantType,
  jwt_bearer: jwtBearerGrantType,
  token_exchange: tokenExchangeGrantType,
  ciba: cibaGrantType,
} as const satisfies Readonly<Record<string, GrantType>>;

export const toGrantName = (grant: GrantType): string =>
  Object.entries(grantNames).find(([, type]) => type === grant)?.[0] ?? grant;

export const acrNames: Readonly<Record<string, string>> = {
  password: acrValues.password,
  multiFactor: acrValues.multiFactor,
  phishingResistant: acrValues.phishingResistant,
};

const algorithms = Object.keys(tokenAlgorithms);
const text: Control = { kind: "text", isCode: true };
const check: Control = { kind: "check" };
const seconds: Control = { kind: "seconds" };
const alg: Control = { kind: "select", values: algorithms };

const securityControls = Object.fromEntries(
  securitySettings.map((name): [SecuritySetting, Control] => {
    const setting = declaredSettings[name];
    if (setting.kind === "flag") return [name, check];
    if (setting.kind === "list") return [name, { kind: "lines" }];
    if (setting.kind === "text") return [name, text];
    return [name, { kind: "select", values: setting.values, hasNone: defaultOf(setting) === undefined }];
  }),
) as Record<SecuritySetting, Control>;

export const controls: Readonly<Record<SettingId, Control>> = {
  name: { kind: "text", isRequired: true },
  description: { kind: "prose" },
  homepageUri: text,
  logoUri: text,
  contacts: { kind: "lines" },
  redirectUris: { kind: "uris", check: "redirect-uris" },
  postLogoutRedirectUris: { kind: "uris", check: "redirect-uris" },
  access: { kind: "radio", values: accessModes },
  consentMode: { kind: "radio", values: consentModes },
  shared: { kind: "shared", values: ["none", "any", "named"] },
  requiredAcr: { kind: "select", values: Object.keys(acrNames), hasNone: true },
  requirePkce: check,
  requireNonceWithoutPkce: check,
  grantTypes: { kind: "several", values: grantTypes.map(toGrantName) },
  allowedScopes: { kind: "scopes" },
  audience: text,
  allowedResources: { kind: "uris" },
  accessTokenLifetimeSeconds: seconds,
  refreshTokenLifetimeSeconds: seconds,
  refreshTokenAbsoluteLifetimeSeconds: seconds,
  refreshTokenGraceSeconds: seconds,
  issueRefreshTokenWithoutOfflineAccess: check,
  idTokenIncludesScopeClaims: check,
  groupsClaim: { kind: "select", values: groupsClaims },
  groupsClaimValue: { kind: "select", values: groupsClaimValues },
  idTokenSignedResponseAlg: alg,
  accessTokenSignedResponseAlg: alg,
  accessTokenType: { kind: "select", values: accessTokenTypes },
  tokenEndpointAuthMethod: {
    kind: "select",
    values: tokenEndpointAuthMethods.filter((method) => method !== "none"),
  },
  jwks: { kind: "jwks" },
  jwksUri: text,
  tlsClientCertificateBoundAccessTokens: check,
  returnUrls: { kind: "uris", check: "return-urls" },
  allowPermanentKeys: check,
  requireSignedKeyCalls: check,
  signingPoolId: { kind: "pool" },
  backchannelLogoutUri: text,
  ...securityControls,
};
