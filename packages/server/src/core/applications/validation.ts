/** Validates an application. Reports all faults together, each with its member's path. */
import { isUuid } from "@signet/protocol/hash";
import { isTokenAlg, tokenAlgorithms } from "@signet/protocol/jose/jws";
import {
  type ClientType,
  checkRegistrableRedirectUri,
  type RedirectUriFault,
} from "@signet/protocol/oauth/redirect-uri";
import { parseScope } from "@signet/protocol/oauth/scope";
import { isRegistrableReturnUrl } from "@signet/protocol/return-url";
import { isRecordName } from "../organisations/organisation.ts";
import { addressRules } from "../outbound/address-rules.ts";
import type { RecordDeps } from "../record-changes.ts";
import { acrValues } from "../sessions/session.ts";
import {
  type ApplicationSettings,
  accessModes,
  accessTokenTypes,
  cibaGrantType,
  consentModes,
  grantTypes,
  groupsClaims,
  groupsClaimValues,
  isDeviceMethod,
  tokenEndpointAuthMethods,
  tokenExchangeGrantType,
} from "./application.ts";
import { certificateNameFaults } from "./certificate-names.ts";
import {
  clientJwksFaults,
  encryptionAlgs,
  findEncryptionKey,
  firstCertificate,
  isEncryptionKey,
} from "./client-jwks.ts";
import { profileFaults } from "./security-profile.ts";
import { declaredSettings, securitySettings } from "./security-settings.ts";

export interface Fault {
  readonly path: string;
  readonly message: string;
  /** Of a URI, for pages, which translate it. */
  readonly code?: RedirectUriFault["code"] | "plain" | "undefinedScope" | "profile";
  /** What the fault is about, when a page names it. */
  readonly value?: string;
}

export class InvalidApplication extends Error {
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.name = "InvalidApplication";
    this.faults = faults;
  }
}

export type ApplicationRules = Pick<RecordDeps, "isDemo">;

/** @throws InvalidApplication naming every fault */
export function requireValidApplication(
  { name, clientType, settings }: { name: string; clientType: ClientType; settings: ApplicationSettings },
  { isDemo }: ApplicationRules = {},
): void {
  const registrable = (uri: string) => checkRegistrableRedirectUri(uri, clientType);
  const faults = [
    ...requireThat(isRecordName(name), "name", "must be 1 to 100 characters without control characters"),
    ...listFaults("redirectUris", settings.redirectUris, 50, registrable),
    ...listFaults("postLogoutRedirectUris", settings.postLogoutRedirectUris, 50, registrable),
    ...listFaults("returnUrls", settings.returnUrls, 50, (url) => returnUrlFault(url, clientType)),
    ...optionalWebAddress("homepageUri", settings.homepageUri),
    ...optionalWebAddress("logoUri", settings.logoUri),
    ...grantFaults(settings, clientType),
    ...listFaults("allowedScopes", settings.allowedScopes, 100, (scope) =>
      isScopeToken(scope) ? undefined : { message: "is not a scope token (RFC 6749 §3.3)" },
    ),
    ...rangeFaults(settings),
    ...algorithmFaults(settings),
    ...listFaults("allowedResources", settings.allowedResources, 100, (uri) =>
      isResource(uri) ? undefined : { message: "must be an absolute URI without fragment (RFC 8707 §2)" },
    ),
    ...choiceFaults("requiredAcr", settings.requiredAcr, Object.values(acrValues)),
    ...clientKeyFaults(settings),
    ...encryptionFaults(settings),
    ...certificateNameFaults(settings),
    ...calledAddressFaults(settings),
    ...audienceFaults(settings),
    ...consentFaults(settings),
    ...descriptionFaults(settings),
    ...listFaults("contacts", settings.contacts, 20, (contact) =>
      contact.trim() !== "" && isPlain(contact, 254)
        ? undefined
        : { message: "must be 1 to 254 characters without control characters" },
    ),
    ...choiceFaults("access", settings.access, accessModes),
    ...choiceFaults("groupsClaim", settings.groupsClaim, groupsClaims),
    ...choiceFaults("groupsClaimValue", settings.groupsClaimValue, groupsClaimValues),
    ...poolFaults(settings),
    ...declaredFaults(settings),
    ...sharingFaults(settings),
    ...profileFaults(clientType, settings, isDemo),
  ];
  if (faults.length > 0) throw new InvalidApplication(faults);
}

const requireThat = (isFine: boolean, path: string, message: string): Fault[] =>
  isFine ? [] : [{ path, message }];

/** The faults of a list's values, each with its index, unless the list is too long. */
function listFaults(
  path: string,
  values: readonly string[],
  max: number,
  faultOf: (value: string) => Omit<Fault, "path"> | undefined,
): Fault[] {
  if (values.length > max) return [{ path, message: `at most ${max}` }];
  return values.flatMap((value, index) => {
    const fault = faultOf(value);
    return fault ? [{ path: `${path}[${index}]`, ...fault }] : [];
  });
}

const choiceFaults = (path: string, value: string | undefined, choices: readonly string[]): Fault[] =>
  requireThat(value === undefined || choices.includes(value), path, `must be one of ${choices.join(", ")}`);

/** Values outside the choices of a declared setting; stored records and commands are not held against a schema. */
const declaredFaults = (settings: ApplicationSettings): Fault[] =>
  securitySettings.flatMap((name) => {
    const setting = declaredSettings[name];
    const value: unknown = settings[name];
    return setting.kind === "choice" ? choiceFaults(name, value as string | undefined, setting.values) : [];
  });

const isPlain = (text: string, max: number): boolean =>
  [...text].length <= max && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text);

const isScopeToken = (scope: string): boolean => parseScope(scope)?.length === 1 && !scope.includes(" ");

const isResource = (uri: string): boolean => uri.length <= 2_048 && URL.canParse(uri) && !uri.includes("#");

/** The legacy federation has no private-use schemes and matches prefixes: fewer forms are safe. */
export function returnUrlFault(url: string, clientType: ClientType): Omit<Fault, "path"> | undefined {
  const fault = checkRegistrableRedirectUri(url, clientType);
  if (fault || isRegistrableReturnUrl(url)) return fault;
  return { code: "plain", message: "must be an https URL; http is allowed for loopback only" };
}

export function optionalWebAddress(path: string, uri: string | undefined): Fault[] {
  if (uri === undefined) return [];
  const url = URL.parse(uri);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  const isFine = isWeb && !url.username && !url.password && uri.length <= 2_048;
  return requireThat(isFine, path, "must be an http or https URL");
}

function grantFaults(settings: ApplicationSettings, clientType: ClientType): Fault[] {
  const { grantTypes: grants, tokenEndpointAuthMethod: method } = settings;
  const isConfidential = clientType === "confidential";
  return [
    ...requireThat(
      grants.length > 0 && grants.every((grant) => grantTypes.includes(grant)),
      "grantTypes",
      `must be some of ${grantTypes.join(", ")}`,
    ),
    ...choiceFaults("tokenEndpointAuthMethod", method, tokenEndpointAuthMethods),
    ...requireThat(
      isConfidential === (method !== "none"),
      "tokenEndpointAuthMethod",
      "confidential clients must authenticate, public clients can't",
    ),
    ...requireThat(
      isConfidential || !grants.includes("client_credentials"),
      "grantTypes",
      "client_credentials needs a confidential client (RFC 6749 §4.4)",
    ),
    ...requireThat(
      isConfidential || !grants.includes(tokenExchangeGrantType),
      "grantTypes",
      "token-exchange needs a confidential client: it is the actor (RFC 8693 §2.1)",
    ),
    ...requireThat(
      isConfidential || !grants.includes(cibaGrantType),
      "grantTypes",
      "ciba needs a confidential client (OpenID Connect CIBA Core 1.0 §4)",
    ),
    ...requireThat(
      isConfidential || settings.requirePkce,
      "requirePkce",
      "only a confidential client may be exempted",
    ),
  ];
}

/** Seconds, minimum and maximum. */
export const lifetimeRanges = {
  accessTokenLifetimeSeconds: [60, 86_400],
  refreshTokenLifetimeSeconds: [300, 31_536_000],
  refreshTokenAbsoluteLifetimeSeconds: [300, 31_536_000],
  refreshTokenGraceSeconds: [0, 60],
} as const;

const rangeFaults = (settings: ApplicationSettings): Fault[] =>
  Object.entries(lifetimeRanges).flatMap(([path, [min, max]]) => {
    const value = settings[path as keyof typeof lifetimeRanges];
    const isFine = Number.isInteger(value) && value >= min && value <= max;
    return requireThat(isFine, path, `must be an integer from ${min} to ${max}`);
  });

const algorithmFaults = (settings: ApplicationSettings): Fault[] => [
  ...(["idTokenSignedResponseAlg", "accessTokenSignedResponseAlg"] as const).flatMap((path) =>
    requireThat(
      isTokenAlg(settings[path]),
      path,
      `must be one of ${Object.keys(tokenAlgorithms).join(", ")}`,
    ),
  ),
  ...choiceFaults("accessTokenType", settings.accessTokenType, accessTokenTypes),
  ...requireThat(
    settings.accessTokenType !== "JWT" || settings.signingPoolId === undefined,
    "accessTokenType",
    "must be at+jwt with a signing pool: its agents sign nothing else",
  ),
];

function audienceFaults({ audience }: ApplicationSettings): Fault[] {
  const isFine = audience === undefined || /^[\x21-\x7e]{1,2048}$/.test(audience);
  return requireThat(isFine, "audience", "must be 1 to 2048 printable characters without spaces");
}

function consentFaults({ consentMode, requireConsent }: ApplicationSettings): Fault[] {
  const faults = choiceFaults("consentMode", consentMode, consentModes);
  if (consentMode === undefined || faults.length > 0) return faults;
  const agrees = requireConsent === (consentMode !== "preauthorized");
  return requireThat(agrees, "consentMode", "contradicts requireConsent");
}

function descriptionFaults({ description = "" }: ApplicationSettings): Fault[] {
  const message = "must be at most 500 characters without control characters";
  return requireThat(isPlain(description, 500), "description", message);
}

function poolFaults({ signingPoolId, backchannelLogoutUri }: ApplicationSettings): Fault[] {
  if (signingPoolId === undefined) return [];
  if (!isUuid(signingPoolId)) return [{ path: "signingPoolId", message: "must be the id of a signing pool" }];
  // A logout token is verified like an ID token (OpenID Connect Back-Channel Logout 1.0 §2.6), and Signet has no key
  // that such an application trusts.
  const message = "cannot be set together with signingPoolId";
  return requireThat(backchannelLogoutUri === undefined, "backchannelLogoutUri", message);
}

/** So many, that a change of the application, which changes all copies, stays one transaction. */
const MAX_NAMED_ORGANISATIONS = 1_000;

function sharingFaults({ shared, tokenEndpointAuthMethod }: ApplicationSettings): Fault[] {
  if (shared === undefined) return [];
  const { organisations } = shared;
  return [
    ...(organisations === "any"
      ? []
      : listFaults("shared.organisations", organisations, MAX_NAMED_ORGANISATIONS, (id) =>
          isUuid(id) ? undefined : { message: "must be the id of an organisation" },
        )),
    // Any device of the other organisation would be the application there.
    ...requireThat(
      !isDeviceMethod(tokenEndpointAuthMethod),
      "shared",
      `cannot be set with ${tokenEndpointAuthMethod}: devices are of one organisation`,
    ),
  ];
}

/** OpenID Connect Registration §2: `jwks` and `jwks_uri` are exclusive. private_key_jwt without either: its workloads are trusted. */
function clientKeyFaults({ jwks, jwksUri, tokenEndpointAuthMethod }: ApplicationSettings): Fault[] {
  const faults = jwks === undefined ? [] : clientJwksFaults(jwks);
  return [
    ...faults.map(({ path, message }) => ({ path: `jwks.${path}`, message })),
    ...requireThat(
      jwks === undefined || jwksUri === undefined,
      "jwksUri",
      "jwks and jwksUri are mutually exclusive",
    ),
    // RFC 8705 §2.2.2.
    ...requireThat(
      tokenEndpointAuthMethod !== "self_signed_tls_client_auth" ||
        jwksUri !== undefined ||
        // A malformed set has its own fault.
        faults.length > 0 ||
        jwks?.keys.some((key) => !isEncryptionKey(key) && firstCertificate(key) !== undefined) === true,
      "jwks",
      "self_signed_tls_client_auth needs a certificate in x5c: jwks or jwksUri",
    ),
  ];
}

/** OpenID Connect Registration §2: encrypted to a key of the client. */
function encryptionFaults({ idTokenEncryptedResponseAlg: alg, jwks, jwksUri }: ApplicationSettings): Fault[] {
  if (alg === undefined || !encryptionAlgs.includes(alg) || jwksUri !== undefined) return [];
  const keys = Array.isArray(jwks?.keys) ? jwks.keys : [];
  return requireThat(
    findEncryptionKey(keys, alg) !== undefined,
    "idTokenEncryptedResponseAlg",
    "needs a key with use=enc that it can be used with: in jwks, or by jwksUri",
  );
}

/** URLs for Signet to call. The host's address is checked at each call (core/outbound). */
const calledAddressFaults = (settings: ApplicationSettings): Fault[] =>
  (["jwksUri", "backchannelLogoutUri"] as const).flatMap((path) => {
    const isFine = settings[path] === undefined || isCallable(settings[path]);
    return requireThat(isFine, path, "must be an https URL without credentials and fragment");
  });

/** Whether Signet may be asked to call it: the host's address is checked at each call. */
export function isCallable(uri: string): boolean {
  const url = URL.parse(uri);
  // OpenID Connect Back-Channel Logout §2.2: no fragment.
  if (!url || uri.length > 2_048 || uri.includes("#") || url.username || url.password) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
}

const { isLoopback } = addressRules([]);

/** http for local development only; whether loopback may be called is the operator's setting. */
const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || isLoopback(host.replace(/^\[(.*)\]$/, "$1"));
