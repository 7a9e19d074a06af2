/** Validates an application. Reports all faults together, each with its member's path. */
import { isUuid } from "@signet/protocol/hash";
import { isSigningAlg } from "@signet/protocol/jose/jws";
import { type ClientType, checkRegistrableRedirectUri } from "@signet/protocol/oauth/redirect-uri";
import { parseScope } from "@signet/protocol/oauth/scope";
import { isRegistrableReturnUrl } from "@signet/protocol/return-url";
import { acrValues, isAcr } from "../sessions/session.ts";
import {
  type ApplicationSettings,
  accessModes,
  consentModes,
  grantTypes,
  tokenEndpointAuthMethods,
} from "./application.ts";
import { calledAddressFaults, clientKeyFaults } from "./called-addresses.ts";

export interface Fault {
  readonly path: string;
  readonly message: string;
}

export class InvalidApplication extends Error {
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.name = "InvalidApplication";
    this.faults = faults;
  }
}

/** @throws InvalidApplication naming every fault */
export function requireValidApplication(input: {
  name: string;
  clientType: ClientType;
  settings: ApplicationSettings;
}): void {
  const { settings, clientType } = input;
  const faults = [
    ...nameFaults(input.name),
    ...uriFaults("redirectUris", settings.redirectUris, clientType),
    ...uriFaults("postLogoutRedirectUris", settings.postLogoutRedirectUris, clientType),
    ...returnUrlFaults(settings.returnUrls, clientType),
    ...optionalWebAddress("homepageUri", settings.homepageUri),
    ...optionalWebAddress("logoUri", settings.logoUri),
    ...grantFaults(settings, clientType),
    ...scopeFaults(settings.allowedScopes),
    ...rangeFaults(settings),
    ...algorithmFaults(settings),
    ...resourceFaults(settings),
    ...acrFaults(settings),
    ...clientKeyFaults(settings),
    ...certificateFaults(settings),
    ...calledAddressFaults(settings),
    ...audienceFaults(settings.audience),
    ...consentFaults(settings),
    ...textFaults(settings),
    ...contactFaults(settings.contacts),
    ...accessFaults(settings.access),
    ...poolFaults(settings),
  ];
  if (faults.length > 0) throw new InvalidApplication(faults);
}

function nameFaults(name: string): Fault[] {
  const length = [...name.trim()].length;
  // Control and bidirectional characters could make two names look alike.
  const deceptive = /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(name);
  return length < 1 || length > 100 || deceptive
    ? [{ path: "name", message: "must be 1 to 100 characters without control characters" }]
    : [];
}

function uriFaults(path: string, uris: readonly string[], clientType: ClientType): Fault[] {
  if (uris.length > 50) return [{ path, message: "at most 50" }];
  return uris.flatMap((uri, index) => {
    const reason = checkRegistrableRedirectUri(uri, clientType);
    return reason === undefined ? [] : [{ path: `${path}[${index}]`, message: reason }];
  });
}

/** The legacy federation has no private-use schemes and matches prefixes: fewer forms are safe. */
function returnUrlFaults(urls: readonly string[], clientType: ClientType): Fault[] {
  const faults = uriFaults("returnUrls", urls, clientType);
  if (faults.length > 0) return faults;
  const message = "must be an https URL; http is allowed for loopback only";
  return urls.flatMap((url, index) =>
    isRegistrableReturnUrl(url) ? [] : [{ path: `returnUrls[${index}]`, message }],
  );
}

export function optionalWebAddress(path: string, uri: string | undefined): Fault[] {
  if (uri === undefined) return [];
  const url = URL.parse(uri);
  const fine =
    url && (url.protocol === "https:" || url.protocol === "http:") && !url.username && !url.password;
  return fine && uri.length <= 2_048 ? [] : [{ path, message: "must be an http or https URL" }];
}

function grantFaults(settings: ApplicationSettings, clientType: ClientType): Fault[] {
  const faults: Fault[] = [];
  const grants = settings.grantTypes;
  if (grants.length === 0 || grants.some((grant) => !grantTypes.includes(grant))) {
    faults.push({ path: "grantTypes", message: `must be some of ${grantTypes.join(", ")}` });
  }
  if (!tokenEndpointAuthMethods.includes(settings.tokenEndpointAuthMethod)) {
    faults.push({
      path: "tokenEndpointAuthMethod",
      message: `must be one of ${tokenEndpointAuthMethods.join(", ")}`,
    });
  }
  const confidential = clientType === "confidential";
  if (confidential === (settings.tokenEndpointAuthMethod === "none")) {
    faults.push({
      path: "tokenEndpointAuthMethod",
      message: "confidential clients must authenticate, public clients can't",
    });
  }
  if (!confidential && grants.includes("client_credentials")) {
    faults.push({
      path: "grantTypes",
      message: "client_credentials needs a confidential client (RFC 6749 §4.4)",
    });
  }
  if (!confidential && !settings.requirePkce) {
    faults.push({ path: "requirePkce", message: "only a confidential client may be exempted" });
  }
  return faults;
}

function certificateFaults({
  tlsClientAuthSanUri: uri,
  tokenEndpointAuthMethod,
}: ApplicationSettings): Fault[] {
  if (uri === undefined) return [];
  const path = "tlsClientAuthSanUri";
  if (tokenEndpointAuthMethod !== "tls_client_auth") return [{ path, message: "requires tls_client_auth" }];
  return /^[\x21-\x7e]{1,2048}$/.test(uri) && URL.canParse(uri)
    ? []
    : [{ path, message: "must be an absolute URI, as in the device's certificate (RFC 8705 §2.1.2)" }];
}

function scopeFaults(scopes: readonly string[]): Fault[] {
  if (scopes.length > 100) return [{ path: "allowedScopes", message: "at most 100" }];
  return scopes.flatMap((scope, index) =>
    parseScope(scope)?.length === 1 && !scope.includes(" ")
      ? []
      : [{ path: `allowedScopes[${index}]`, message: "is not a scope token (RFC 6749 §3.3)" }],
  );
}

/** Seconds, minimum and maximum. */
export const lifetimeRanges = {
  accessTokenLifetimeSeconds: [60, 86_400],
  refreshTokenLifetimeSeconds: [300, 31_536_000],
  refreshTokenAbsoluteLifetimeSeconds: [300, 31_536_000],
  refreshTokenGraceSeconds: [0, 60],
} as const;

function rangeFaults(settings: ApplicationSettings): Fault[] {
  return Object.entries(lifetimeRanges).flatMap(([path, [min, max]]) => {
    const value = settings[path as keyof typeof lifetimeRanges];
    const fine = Number.isInteger(value) && value >= min && value <= max;
    return fine ? [] : [{ path, message: `must be an integer from ${min} to ${max}` }];
  });
}

function algorithmFaults(settings: ApplicationSettings): Fault[] {
  return (["idTokenSignedResponseAlg", "accessTokenSignedResponseAlg"] as const).flatMap((path) =>
    isSigningAlg(settings[path]) ? [] : [{ path, message: "must be ES256, RS256, PS256 or EdDSA" }],
  );
}

function audienceFaults(audience: string | undefined): Fault[] {
  return audience === undefined || /^[\x21-\x7e]{1,2048}$/.test(audience)
    ? []
    : [{ path: "audience", message: "must be 1 to 2048 printable characters without spaces" }];
}

function resourceFaults(settings: ApplicationSettings): Fault[] {
  if (settings.allowedResources.length > 100) return [{ path: "allowedResources", message: "at most 100" }];
  const fine = (uri: string) => uri.length <= 2_048 && URL.canParse(uri) && !uri.includes("#");
  return settings.allowedResources.flatMap((uri, index) =>
    fine(uri)
      ? []
      : [
          {
            path: `allowedResources[${index}]`,
            message: "must be an absolute URI without fragment (RFC 8707 §2)",
          },
        ],
  );
}

function acrFaults({ requiredAcr }: ApplicationSettings): Fault[] {
  if (requiredAcr === undefined || isAcr(requiredAcr)) return [];
  return [{ path: "requiredAcr", message: `must be one of ${Object.values(acrValues).join(", ")}` }];
}

function consentFaults({ consentMode, requireConsent }: ApplicationSettings): Fault[] {
  if (consentMode === undefined) return [];
  if (!consentModes.includes(consentMode))
    return [{ path: "consentMode", message: `must be one of ${consentModes.join(", ")}` }];
  return requireConsent === (consentMode === "preauthorized")
    ? [{ path: "consentMode", message: "contradicts requireConsent" }]
    : [];
}

function textFaults({ description }: ApplicationSettings): Fault[] {
  return description === undefined || isPlain(description, 500)
    ? []
    : [{ path: "description", message: "must be at most 500 characters without control characters" }];
}

function contactFaults(contacts: readonly string[]): Fault[] {
  if (contacts.length > 20) return [{ path: "contacts", message: "at most 20" }];
  return contacts.flatMap((contact, index) =>
    contact.trim() !== "" && isPlain(contact, 254)
      ? []
      : [{ path: `contacts[${index}]`, message: "must be 1 to 254 characters without control characters" }],
  );
}

const isPlain = (text: string, max: number): boolean =>
  [...text].length <= max && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text);

const accessFaults = (access: ApplicationSettings["access"]): Fault[] =>
  accessModes.includes(access)
    ? []
    : [{ path: "access", message: `must be one of ${accessModes.join(", ")}` }];

function poolFaults({ signingPoolId, backchannelLogoutUri }: ApplicationSettings): Fault[] {
  if (signingPoolId === undefined) return [];
  if (!isUuid(signingPoolId)) return [{ path: "signingPoolId", message: "must be the id of a signing pool" }];
  // A logout token is verified like an ID token (OpenID Connect Back-Channel Logout 1.0 §2.6), and Signet has no key
  // that such an application trusts.
  if (backchannelLogoutUri !== undefined)
    return [{ path: "backchannelLogoutUri", message: "cannot be set together with signingPoolId" }];
  return [];
}
