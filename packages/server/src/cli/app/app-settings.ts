/** The options of `signet app create`, one for each application setting, and validation errors by option. */
import { type TokenAlg, tokenAlgorithms } from "@signet/protocol/jose/jws";
import {
  type ApplicationSettings,
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
} from "../../core/applications/application.ts";
import { declaredSettings, optionOf, securitySettings } from "../../core/applications/security-settings.ts";
import { InvalidApplication } from "../../core/applications/validation.ts";
import { acrValues } from "../../core/sessions/session.ts";
import { choice, type Option, type Options, repeatedText, UsageError, type Values } from "../command.ts";
import { readOptionFile } from "../output.ts";
import { readDuration } from "../times.ts";

const algorithms = Object.keys(tokenAlgorithms) as TokenAlg[];

/** Short for URNs (RFC 8628 §3.4, RFC 7523 §2.1, RFC 8693 §2.1, CIBA Core §10.1). */
const shortGrants: Readonly<Record<string, GrantType>> = {
  device_code: deviceCodeGrantType,
  "jwt-bearer": jwtBearerGrantType,
  "token-exchange": tokenExchangeGrantType,
  ciba: cibaGrantType,
};

type Setting = Option & {
  readonly member: keyof ApplicationSettings;
  /** Reads the option's text; for a flag, its value. @throws UsageError */
  readonly read?: (text: string, option: string) => unknown;
};

const MAX_JWKS_BYTES = 64 * 1024;

/** A JWK Set or a single JWK; core validates the keys. */
const readJwks = (path: string, option: string) =>
  readOptionFile(option, path, MAX_JWKS_BYTES, (file) => {
    const value: unknown = JSON.parse(file.toString());
    const isOneKey = typeof value === "object" && value !== null && "kty" in value;
    return isOneKey ? { keys: [value] } : value;
  });

const alg = (text: string, option: string) => choice(option, text, algorithms);

/** An option for each declared setting, named as it. */
const securityOptions: Readonly<Record<string, Setting>> = Object.fromEntries(
  securitySettings.map((member): [string, Setting] => {
    const setting = declaredSettings[member];
    const { help } = setting;
    if (setting.kind === "flag") return [optionOf(member), { member, help, read: () => true }];
    if (setting.kind === "list")
      return [optionOf(member), { member, help: `${help}; repeatable`, multiple: true, value: "TEXT" }];
    if (setting.kind === "text") return [optionOf(member), { member, help, value: "TEXT" }];
    const { values } = setting;
    const read = (text: string, option: string) => choice(option, text, values);
    return [optionOf(member), { member, help: `${help}: ${values.join(", ")}`, value: "VALUE", read }];
  }),
);

const settings: Readonly<Record<string, Setting>> = {
  "redirect-uri": {
    member: "redirectUris",
    multiple: true,
    value: "URI",
    help: "redirect URI, matched exactly (for native types any port of http://127.0.0.1/…); repeatable",
  },
  "post-logout-redirect-uri": {
    member: "postLogoutRedirectUris",
    multiple: true,
    value: "URI",
    help: "post-logout redirect URI; repeatable",
  },
  "return-url": {
    member: "returnUrls",
    multiple: true,
    value: "URL",
    help: "return URL of the federation login; repeatable",
  },
  grant: {
    member: "grantTypes",
    multiple: true,
    value: "GRANT",
    help: "authorization_code, refresh_token, client_credentials, device_code, jwt-bearer, token-exchange, ciba; repeatable (default: the first two)",
    read: (text, option) => choice(option, shortGrants[text] ?? text, grantTypes),
  },
  scope: {
    member: "allowedScopes",
    multiple: true,
    value: "SCOPE",
    help: "allowed scope; repeatable (default: openid profile email phone offline_access; none for client_credentials only)",
  },
  audience: {
    member: "audience",
    value: "URI",
    help: "audience (aud) of access tokens (default: the issuer)",
  },
  resource: {
    member: "allowedResources",
    multiple: true,
    value: "URI",
    help: "allowed resource indicator (RFC 8707); repeatable",
  },
  description: { member: "description", value: "TEXT", help: "description" },
  "homepage-uri": {
    member: "homepageUri",
    value: "URI",
    help: "home page, linked from sign-in and account pages",
  },
  "logo-uri": { member: "logoUri", value: "URI", help: "logo" },
  "auth-method": {
    member: "tokenEndpointAuthMethod",
    value: "METHOD",
    help: `${tokenEndpointAuthMethods.join(", ")} (default: the first; none for public types)`,
    read: (text, option) => choice(option, text, tokenEndpointAuthMethods),
  },
  jwks: {
    member: "jwks",
    value: "FILE",
    help: "JWK Set for private_key_jwt, with x5c for self_signed_tls_client_auth; never private keys",
    read: readJwks,
  },
  "jwks-uri": { member: "jwksUri", value: "URI", help: "HTTPS URL of the JWK Set, in place of --jwks" },
  "device-uri": {
    member: "tlsClientAuthSanUri",
    value: "URI",
    help: "tls_client_auth: URI in the certificate of the one device that may authenticate (default: any device)",
  },
  "bind-tokens": {
    member: "tlsClientCertificateBoundAccessTokens",
    help: "bind tokens to the client certificate of the device (RFC 8705)",
    read: () => true,
  },
  "backchannel-logout-uri": {
    member: "backchannelLogoutUri",
    value: "URI",
    help: "HTTPS URL for back-channel logout notifications",
  },
  "no-consent": { member: "requireConsent", help: "skip the consent page", read: () => false },
  "consent-mode": {
    member: "consentMode",
    value: "MODE",
    help: "who consents: user (default), organisation (administrators only), preauthorized (first-party, no consent)",
    read: (text, option) => choice(option, text, consentModes),
  },
  "no-pkce": {
    member: "requirePkce",
    help: "accept authorization codes without PKCE; confidential clients only",
    read: () => false,
  },
  "nonce-without-pkce": {
    member: "requireNonceWithoutPkce",
    help: "with --no-pkce: a request without PKCE must have a nonce and the scope openid",
    read: () => true,
  },
  "access-token-lifetime": {
    member: "accessTokenLifetimeSeconds",
    value: "TIME",
    help: "access token lifetime: seconds, or 15m, 1h; 60 to 86400 seconds (default 1h)",
    read: readDuration,
  },
  "refresh-token-lifetime": {
    member: "refreshTokenLifetimeSeconds",
    value: "TIME",
    help: "refresh token lifetime when unused: 300 seconds to 365d (default 1d)",
    read: readDuration,
  },
  "refresh-token-absolute-lifetime": {
    member: "refreshTokenAbsoluteLifetimeSeconds",
    value: "TIME",
    help: "maximum refresh token lifetime, however often refreshed (default 30d)",
    read: readDuration,
  },
  "refresh-token-grace": {
    member: "refreshTokenGraceSeconds",
    value: "TIME",
    help: "when a repeated refresh counts as late: 0 (rejects repeats) to 60 seconds (default 10)",
    read: readDuration,
  },
  "no-refresh-without-offline-access": {
    member: "issueRefreshTokenWithoutOfflineAccess",
    help: "issue refresh tokens only when offline_access is granted",
    read: () => false,
  },
  "id-token-alg": {
    member: "idTokenSignedResponseAlg",
    value: "ALG",
    help: `ID token signing algorithm: ${algorithms.join(", ")} (default ES256)`,
    read: alg,
  },
  "access-token-alg": {
    member: "accessTokenSignedResponseAlg",
    value: "ALG",
    help: `access token signing algorithm: ${algorithms.join(", ")} (default ES256)`,
    read: alg,
  },
  "access-token-type": {
    member: "accessTokenType",
    value: "TYPE",
    help: "header typ of access tokens: at+jwt (default), or JWT for APIs that refuse at+jwt",
    read: (text, option) => choice(option, text, accessTokenTypes),
  },
  "required-acr": {
    member: "requiredAcr",
    value: "ACR",
    help: `required authentication level: ${Object.values(acrValues).join(", ")}`,
    read: (text, option) => choice(option, text, Object.values(acrValues)),
  },
  "id-token-scope-claims": {
    member: "idTokenIncludesScopeClaims",
    help: "include the claims of all granted scopes in the ID token, custom scopes too",
    read: () => true,
  },
  "groups-claim": {
    member: "groupsClaim",
    value: "WHICH",
    help: "groups in the scope groups: assigned (those that access or a role comes by; default) or all",
    read: (text, option) => choice(option, text, groupsClaims),
  },
  "groups-claim-value": {
    member: "groupsClaimValue",
    value: "WHAT",
    help: "what of a group is in the claim: displayName (default), id or externalId",
    read: (text, option) => choice(option, text, groupsClaimValues),
  },
  contact: {
    member: "contacts",
    multiple: true,
    value: "TEXT",
    help: "contact for the application; repeatable",
  },
  access: {
    member: "access",
    value: "WHO",
    help: "who may sign in: everyone (default), or assigned users only",
    read: (text, option) => choice(option, text, accessModes),
  },
  "allow-permanent-keys": {
    member: "allowPermanentKeys",
    help: "allow permanent session keys of the federation login",
    read: () => true,
  },
  "signing-pool": {
    member: "signingPoolId",
    value: "ID",
    help: "signing pool whose agents sign all tokens (see signet pool list)",
    read: (text) => text.toLowerCase(),
  },
  shared: {
    member: "shared",
    value: "any|ID,ID",
    help: "which other organisations may enable it: any, or their IDs",
    read: (text) => ({
      organisations:
        text === "any"
          ? text
          : text
              .toLowerCase()
              .split(/[\s,]+/)
              .filter((id) => id !== ""),
    }),
  },
  "require-signed-key-calls": {
    member: "requireSignedKeyCalls",
    help: "require a system account's signature on calls with a session key",
    read: () => true,
  },
  ...securityOptions,
};

export const settingOptions: Options = settings;

const oppositeOf = (flag: string): string => (flag.startsWith("no-") ? flag.slice(3) : `no-${flag}`);

/** For `app update`: the flags that turn each flag's setting back. */
export const oppositeOptions: Options = Object.fromEntries(
  Object.entries(settings)
    .filter(([, { value }]) => value === undefined)
    .map(([flag]) => [oppositeOf(flag), { help: `the opposite of --${flag}` }]),
);

/** @throws UsageError when a value can't be parsed; core validates the settings */
export function readSettings(values: Values): Partial<ApplicationSettings> {
  const entries = Object.entries(settings).flatMap(([name, { member, read, multiple }]) => {
    const given = values[name];
    if (given === undefined) return [];
    const one = (text: unknown) => (read ? read(String(text), name) : String(text));
    return [[member, multiple ? [given].flat().map(one) : one(given)] as const];
  });
  return Object.fromEntries(entries) as Partial<ApplicationSettings>;
}

/** A client-credentials client has no user, so the identity scopes don't apply. */
export function readNewSettings(values: Values): Partial<ApplicationSettings> {
  const read = readSettings(values);
  const isService = read.grantTypes?.every((grant) => grant === "client_credentials") ?? false;
  return isService ? { allowedScopes: [], ...read } : read;
}

/** The settings that `app update` changes: also flags turned back. @throws UsageError */
export function readChangedSettings(values: Values): Partial<ApplicationSettings> {
  const turnedBack = Object.entries(settings).flatMap(([flag, { member, value, read }]) => {
    const opposite = oppositeOf(flag);
    if (value !== undefined || values[opposite] === undefined) return [];
    if (values[flag] !== undefined) throw new UsageError(`--${flag} and --${opposite} contradict each other`);
    return [[member, !read?.("", flag)] as const];
  });
  return { ...readSettings(values), ...Object.fromEntries(turnedBack) };
}

/** The settings of `--reset`. @throws UsageError naming an unknown option */
export function readResetMembers(values: Values): Array<keyof ApplicationSettings> {
  return repeatedText(values, "reset").map((name) => {
    const option = name.replace(/^--/, "");
    const setting = settings[option] ?? settings[oppositeOf(option)];
    if (!setting) throw new UsageError(`--reset ${name}: there is no option --${option}`);
    return setting.member;
  });
}

/** For `catch`: an application that is refused is an error with one line per fault, naming the options. */
export const explainFaults =
  (values: Values) =>
  (error: unknown): never => {
    throw error instanceof InvalidApplication ? new Error(errorLines(error, values).join("\n  ")) : error;
  };

/** One line per validation error, naming the option instead of the setting. */
function errorLines({ faults }: InvalidApplication, values: Values): string[] {
  return faults.map(({ path, message }) => {
    const [, member = path, index, inside = ""] = /^(\w+)(?:\[(\d+)\])?(?:\.(.+))?$/.exec(path) ?? [];
    const option = Object.keys(settings).find((name) => settings[name]?.member === member);
    if (option === undefined) return `--${path} ${message}`;
    const given = index === undefined ? undefined : [values[option]].flat()[Number(index)];
    const fault = inside === "" ? message : `${inside} ${message}`;
    return given === undefined ? `--${option}: ${fault}` : `--${option} ${given}: ${fault}`;
  });
}
