/** The options of `signet app create`: each names one setting of an application, and faults are told in their words. */
import { jwsAlgorithms, type SigningAlg } from "@signet/protocol/jose/jws";
import {
  type ApplicationSettings,
  accessModes,
  consentModes,
  deviceCodeGrantType,
  grantTypes,
  tokenEndpointAuthMethods,
} from "../../core/applications/application.ts";
import type { InvalidApplication } from "../../core/applications/validation.ts";
import { acrValues } from "../../core/sessions/session.ts";
import { choice, type Option, type Options, type Values } from "../command.ts";
import { readDuration } from "../times.ts";
import { readJwksFile } from "./jwks-file.ts";

const algorithms = Object.keys(jwsAlgorithms) as SigningAlg[];

type Setting = Omit<Option, "type"> & {
  readonly member: keyof ApplicationSettings;
  /** What the typed text, or for `true` the flag itself, means. @throws UsageError */
  readonly read?: (text: string, option: string) => unknown;
  readonly flag?: boolean;
};

const alg = (text: string, option: string) => choice(option, text, algorithms);

const settings: Readonly<Record<string, Setting>> = {
  "redirect-uri": {
    member: "redirectUris",
    multiple: true,
    value: "URI",
    help: "where codes are sent, exactly; repeat it for several. http://127.0.0.1/… may have any port",
  },
  "post-logout-redirect-uri": {
    member: "postLogoutRedirectUris",
    multiple: true,
    value: "URI",
    help: "where a browser may go after signing out; repeatable",
  },
  "return-url": {
    member: "returnUrls",
    multiple: true,
    value: "URL",
    help: "where a federation login may return; repeatable",
  },
  grant: {
    member: "grantTypes",
    multiple: true,
    value: "GRANT",
    help: "authorization_code, refresh_token, client_credentials, device_code; repeatable (default: the first two)",
    // The device grant's own name is a long URN (RFC 8628 §3.4): it has a short one here.
    read: (text, option) => (text === "device_code" ? deviceCodeGrantType : choice(option, text, grantTypes)),
  },
  scope: {
    member: "allowedScopes",
    multiple: true,
    value: "SCOPE",
    help: "what it may ask for; repeatable (default: openid profile email phone offline_access; none for a service)",
  },
  audience: { member: "audience", value: "URI", help: "aud of its access tokens (default: the issuer)" },
  resource: {
    member: "allowedResources",
    multiple: true,
    value: "URI",
    help: "what the resource parameter may name (RFC 8707); repeatable",
  },
  description: { member: "description", value: "TEXT", help: "for people" },
  "homepage-uri": { member: "homepageUri", value: "URI", help: "linked from our pages" },
  "logo-uri": { member: "logoUri", value: "URI", help: "its logo" },
  "auth-method": {
    member: "tokenEndpointAuthMethod",
    value: "METHOD",
    help: `${tokenEndpointAuthMethods.join(", ")} (default: the first; none for public types)`,
    read: (text, option) => choice(option, text, tokenEndpointAuthMethods),
  },
  jwks: {
    member: "jwks",
    value: "FILE",
    help: "its public keys for private_key_jwt, as a JWK Set; never a private one",
    read: readJwksFile,
  },
  "jwks-uri": {
    member: "jwksUri",
    value: "URI",
    help: "where it publishes these keys instead, by https",
  },
  "device-uri": {
    member: "tlsClientAuthSanUri",
    value: "URI",
    help: "with tls_client_auth: the one device that speaks for it, by the URI in its certificate (default: any)",
  },
  "bind-tokens": {
    member: "tlsClientCertificateBoundAccessTokens",
    flag: true,
    help: "its tokens are good in the hands of the device alone that they were issued to",
    read: () => true,
  },
  "backchannel-logout-uri": {
    member: "backchannelLogoutUri",
    value: "URI",
    help: "told when a session ends that it got tokens from, by https",
  },
  "no-consent": {
    member: "requireConsent",
    flag: true,
    help: "users are not asked for consent",
    read: () => false,
  },
  "consent-mode": {
    member: "consentMode",
    value: "MODE",
    help: "who is asked: user (default), organisation (administrators alone), preauthorized (nobody)",
    read: (text, option) => choice(option, text, consentModes),
  },
  "no-pkce": {
    member: "requirePkce",
    flag: true,
    help: "codes without PKCE are accepted; confidential clients only",
    read: () => false,
  },
  "access-token-lifetime": {
    member: "accessTokenLifetimeSeconds",
    value: "TIME",
    help: "seconds, or 15m, 1h: from 60 to 86400 seconds (default 1h)",
    read: readDuration,
  },
  "refresh-token-lifetime": {
    member: "refreshTokenLifetimeSeconds",
    value: "TIME",
    help: "unused for so long, a sign-in ends: from 300 seconds to 365d (default 1d)",
    read: readDuration,
  },
  "refresh-token-absolute-lifetime": {
    member: "refreshTokenAbsoluteLifetimeSeconds",
    value: "TIME",
    help: "however often it is refreshed, it ends then (default 30d)",
    read: readDuration,
  },
  "refresh-token-grace": {
    member: "refreshTokenGraceSeconds",
    value: "TIME",
    help: "in which a refresh may be repeated: 0 to 60 seconds (default 10)",
    read: readDuration,
  },
  "no-refresh-without-offline-access": {
    member: "issueRefreshTokenWithoutOfflineAccess",
    flag: true,
    help: "refresh tokens only when offline_access is granted",
    read: () => false,
  },
  "id-token-alg": {
    member: "idTokenSignedResponseAlg",
    value: "ALG",
    help: `${algorithms.join(", ")} (default ES256)`,
    read: alg,
  },
  "access-token-alg": {
    member: "accessTokenSignedResponseAlg",
    value: "ALG",
    help: `${algorithms.join(", ")} (default ES256)`,
    read: alg,
  },
  "required-acr": {
    member: "requiredAcr",
    value: "ACR",
    help: `what a sign-in must reach: ${Object.values(acrValues).join(", ")}`,
    read: (text, option) => choice(option, text, Object.values(acrValues)),
  },
  "id-token-scope-claims": {
    member: "idTokenIncludesScopeClaims",
    flag: true,
    help: "the ID token holds what profile, email and phone name",
    read: () => true,
  },
  contact: { member: "contacts", multiple: true, value: "TEXT", help: "whom to ask about it; repeatable" },
  access: {
    member: "access",
    value: "WHO",
    help: "everyone in the organisation (default), or assigned users alone",
    read: (text, option) => choice(option, text, accessModes),
  },
  "allow-permanent-keys": {
    member: "allowPermanentKeys",
    flag: true,
    help: "session keys of the federation login may be made permanent",
    read: () => true,
  },
  "signing-pool": {
    member: "signingPoolId",
    value: "ID",
    help: "the agents of this pool sign its tokens, and nobody else (signet pool list)",
    read: (text) => text.toLowerCase(),
  },
  "require-signed-key-calls": {
    member: "requireSignedKeyCalls",
    flag: true,
    help: "calls with a session key must be signed by a system account too",
    read: () => true,
  },
};

export const settingOptions: Options = Object.fromEntries(
  Object.entries(settings).map(([name, { help, value, multiple, flag }]) => [
    name,
    {
      type: flag ? "boolean" : "string",
      help,
      ...(value === undefined ? {} : { value }),
      ...(multiple === undefined ? {} : { multiple }),
    },
  ]),
);

/** @throws UsageError for what is no number, no algorithm and the like; the rules of the record are the core's */
export function readSettings(values: Values): Partial<ApplicationSettings> {
  const entries = Object.entries(settings).flatMap(([name, { member, read, multiple }]) => {
    const given = values[name];
    if (given === undefined) return [];
    const one = (text: unknown) => (read ? read(String(text), name) : String(text));
    return [[member, multiple ? [given].flat().map(one) : one(given)] as const];
  });
  const read = Object.fromEntries(entries) as Partial<ApplicationSettings>;
  // Without users there is nothing that the five identity scopes could tell.
  const isService = read.grantTypes?.every((grant) => grant === "client_credentials") ?? false;
  return isService ? { allowedScopes: [], ...read } : read;
}

/** A line for each fault, with the option that it came by in place of the record's member. */
export function faultLines({ faults }: InvalidApplication, values: Values): string[] {
  return faults.map(({ path, message }) => {
    const [, member = path, index, inside = ""] = /^(\w+)(?:\[(\d+)\])?(?:\.(.+))?$/.exec(path) ?? [];
    const option = Object.keys(settings).find((name) => settings[name]?.member === member);
    if (option === undefined) return `--${path} ${message}`;
    const given = index === undefined ? undefined : [values[option]].flat()[Number(index)];
    const told = inside === "" ? message : `${inside} ${message}`;
    return given === undefined ? `--${option}: ${told}` : `--${option} ${given}: ${told}`;
  });
}
