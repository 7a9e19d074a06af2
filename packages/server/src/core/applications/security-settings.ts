/**
 * The settings of modern OAuth, each declared once: the APIs, the configuration file, the command line, the console and the
 * validation read them here. A new one is a member of the interface, a row of the table, and its texts in `locales/`.
 */
import { jwsAlgorithms, type SigningAlg } from "@signet/protocol/jose/jws";
import { type EncryptionAlg, encryptionAlgs } from "./client-jwks.ts";

export const securityProfiles = ["none", "fapi2", "fapi2-message-signing"] as const;
export type SecurityProfile = (typeof securityProfiles)[number];

export interface SecuritySettings {
  /** What security-profile.ts holds the application to. */
  readonly securityProfile: SecurityProfile;
  /** RFC 9126; the organisation's policy may require it of all. */
  readonly requirePushedAuthorizationRequests: boolean;
  /** RFC 9101. */
  readonly requireSignedRequestObject: boolean;
  /** The one algorithm of its request objects; absent: any that we verify. */
  readonly requestObjectSigningAlg?: SigningAlg;
  /** Of responses in a `jwt` response mode (JARM). */
  readonly authorizationSignedResponseAlg: SigningAlg;
  /** Of introspection responses that it asks for as a JWT (RFC 9701). */
  readonly introspectionSignedResponseAlg: SigningAlg;
  /** Of userinfo responses; absent: they are JSON (OpenID Connect Core §5.3.2). */
  readonly userinfoSignedResponseAlg?: SigningAlg;
  /** ID tokens are encrypted to the client's key; absent: they are signed alone (OpenID Connect Registration §2). */
  readonly idTokenEncryptedResponseAlg?: EncryptionAlg;
  readonly idTokenEncryptedResponseEnc: "A256GCM";
  /** Every token request proves a key, which its tokens are bound to (RFC 9449). */
  readonly dpopBoundAccessTokens: boolean;
  /** A DPoP proof has a nonce of ours (RFC 9449 §8). */
  readonly requireDpopNonce: boolean;
  /** The types of authorization details that it may ask for (RFC 9396). */
  readonly authorizationDetailsTypes: readonly string[];
  /** With tls_client_auth, at most one: the name in the certificate that authenticates; without any: any device (RFC 8705 §2.1.2). */
  readonly tlsClientAuthSubjectDn?: string;
  readonly tlsClientAuthSanDns?: string;
  readonly tlsClientAuthSanUri?: string;
  readonly tlsClientAuthSanIp?: string;
  readonly tlsClientAuthSanEmail?: string;
}

export type SecuritySetting = keyof SecuritySettings;

interface Described {
  /** For the reference of the APIs. */
  readonly description: string;
  /** For the command line. */
  readonly help: string;
}

/** Without a default, the setting may be unset. */
export type DeclaredSetting = Described &
  (
    | { readonly kind: "flag" }
    | { readonly kind: "choice"; readonly values: readonly string[]; readonly default?: string }
    | { readonly kind: "text" }
    | { readonly kind: "list" }
  );

const algorithms = Object.keys(jwsAlgorithms);
export const contentEncryptions = ["A256GCM"] as const;

export const declaredSettings: Readonly<Record<SecuritySetting, DeclaredSetting>> = {
  securityProfile: {
    kind: "choice",
    values: securityProfiles,
    default: "none",
    description:
      "FAPI 2.0 Security Profile, with or without Message Signing: enforced in every request; settings that contradict it are faults",
    help: "security profile that its settings and requests are held to (default none)",
  },
  requirePushedAuthorizationRequests: {
    kind: "flag",
    description: "Authorization requests must be pushed (RFC 9126)",
    help: "accept pushed authorization requests only (RFC 9126)",
  },
  requireSignedRequestObject: {
    kind: "flag",
    description: "Authorization requests must be signed (RFC 9101)",
    help: "accept signed request objects only (RFC 9101)",
  },
  requestObjectSigningAlg: {
    kind: "choice",
    values: algorithms,
    description: "The algorithm of request objects; unset: any supported one",
    help: "algorithm of its request objects (default: any supported one)",
  },
  authorizationSignedResponseAlg: {
    kind: "choice",
    values: algorithms,
    default: "ES256",
    description: "Signs authorization responses in the response modes of JARM",
    help: "algorithm of signed authorization responses, JARM (default ES256)",
  },
  introspectionSignedResponseAlg: {
    kind: "choice",
    values: algorithms,
    default: "ES256",
    description: "Signs introspection responses that are asked for as a JWT (RFC 9701)",
    help: "algorithm of signed introspection responses, RFC 9701 (default ES256)",
  },
  userinfoSignedResponseAlg: {
    kind: "choice",
    values: algorithms,
    description: "Signs userinfo responses; unset: they are JSON",
    help: "algorithm of signed userinfo responses (default: JSON, unsigned)",
  },
  idTokenEncryptedResponseAlg: {
    kind: "choice",
    values: encryptionAlgs,
    description: "Encrypts ID tokens to the client's key with use=enc; unset: they are signed alone",
    help: "algorithm that encrypts its ID tokens, to its key with use=enc (default: they are signed alone)",
  },
  idTokenEncryptedResponseEnc: {
    kind: "choice",
    values: contentEncryptions,
    default: "A256GCM",
    description: "Content encryption of encrypted ID tokens",
    help: "content encryption of encrypted ID tokens (default A256GCM)",
  },
  dpopBoundAccessTokens: {
    kind: "flag",
    description: "Tokens are bound to the key of a DPoP proof, which every token request needs (RFC 9449)",
    help: "bind tokens to the key of a DPoP proof, which every token request then needs (RFC 9449)",
  },
  requireDpopNonce: {
    kind: "flag",
    description: "DPoP proofs need a nonce of the DPoP-Nonce header (RFC 9449 §8)",
    help: "require a nonce of this server in DPoP proofs (RFC 9449 §8)",
  },
  authorizationDetailsTypes: {
    kind: "list",
    description: "Types of authorization details that it may request (RFC 9396)",
    help: "type of authorization details that it may request (RFC 9396)",
  },
  tlsClientAuthSubjectDn: {
    kind: "text",
    description:
      "With tls_client_auth: the subject of the one certificate that may authenticate as the client (RFC 4514)",
    help: "tls_client_auth: subject of the certificate that may authenticate (RFC 4514), in place of a SAN",
  },
  tlsClientAuthSanDns: {
    kind: "text",
    description: "With tls_client_auth: its dNSName, without wildcards",
    help: "tls_client_auth: host name (SAN dNSName) in that certificate",
  },
  tlsClientAuthSanUri: {
    kind: "text",
    description: "With tls_client_auth: its URI; a device's is in its record",
    help: "tls_client_auth: URI (SAN) in that certificate, e.g. of one device (default: any device)",
  },
  tlsClientAuthSanIp: {
    kind: "text",
    description: "With tls_client_auth: its IP address, IPv4 or IPv6",
    help: "tls_client_auth: IP address (SAN iPAddress) in that certificate",
  },
  tlsClientAuthSanEmail: {
    kind: "text",
    description: "With tls_client_auth: its email address",
    help: "tls_client_auth: email address (SAN rfc822Name) in that certificate",
  },
};

export const securitySettings = Object.keys(declaredSettings) as SecuritySetting[];

/** What an unset one counts as; undefined for those that may be unset. */
export function defaultOf(setting: DeclaredSetting): unknown {
  if (setting.kind === "flag") return false;
  if (setting.kind === "list") return [];
  return setting.kind === "choice" ? setting.default : undefined;
}

export const securityDefaults = Object.fromEntries(
  Object.entries(declaredSettings).flatMap(([name, setting]) => {
    const value = defaultOf(setting);
    return value === undefined ? [] : [[name, value]];
  }),
) as unknown as SecuritySettings;

const isOptional = (name: SecuritySetting): boolean => defaultOf(declaredSettings[name]) === undefined;
export const valuedSettings = securitySettings.filter((name) => !isOptional(name));
export const optionalSettings = securitySettings.filter(isOptional);

/** `dpopBoundAccessTokens` is `dpop-bound-access-tokens`. */
export const optionOf = (name: SecuritySetting): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
