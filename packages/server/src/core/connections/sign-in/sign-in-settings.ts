/** What a connection for signing in is set to (connections.md §1). Without the client secret, which is sealed apart. */

export const signInKinds = ["oidc", "oauth", "saml"] as const;
export type SignInKind = (typeof signInKinds)[number];

export const presets = ["entra", "google", "okta", "apple", "github", "keycloak"] as const;
export type Preset = (typeof presets)[number];

export const linkingModes = ["ask", "verifiedEmail", "never"] as const;
export const emailTrusts = ["provenDomains", "verifiedClaim", "never"] as const;
export const clientAuthMethods = ["client_secret_basic", "client_secret_post", "none"] as const;
export type ClientAuthMethod = (typeof clientAuthMethods)[number];

/** A claim's name, `/json/pointer`, `=constant`, or several of them: the first that is not empty. */
export type Expression = string | readonly string[];

/** Members of a user that a claim can give, beside `attributes.<name>`. */
export const mappedMembers = [
  ...(["email", "emailVerified", "firstname", "surname", "username", "phone", "locale"] as const),
] as const;

export type Mapping = Readonly<Record<string, Expression>>;

/** `mapping.groups`: which groups a claim puts its user in. */
export interface GroupMapping {
  readonly from: Expression;
  /** The id of a group by a claimed value. */
  readonly map: Readonly<Record<string, string>>;
}

export interface UpstreamClient {
  /** Exactly as the ID token names it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly tokenEndpointAuthMethod: ClientAuthMethod;
  readonly scopes: readonly string[];
}

/** An upstream claim that raises the session's acr. */
export interface AssuranceRule {
  readonly claim: "acr" | "amr";
  readonly value: string;
  readonly acr: string;
}

/** Of the metadata of a SAML identity provider, or as it was typed. */
export interface SamlProvider {
  /** Where its metadata, and with it new certificates, are fetched. */
  readonly metadataUrl: string | null;
  readonly entityId: string;
  /** Both take the Redirect binding. */
  readonly ssoUrl: string;
  readonly sloUrl: string | null;
  /** Where its metadata wants the answers to its logouts (SAML 2.0 Metadata §2.2.2); undefined: at `sloUrl`. */
  readonly sloResponseUrl?: string | undefined;
  /** PEM: no other key is believed. */
  readonly certificates: readonly string[];
  /** Whose value is the subject, instead of the NameID. */
  readonly subjectAttribute: string | null;
  readonly allowIdpInitiated: boolean;
}

interface SharedSettings {
  readonly preset: Preset | null;
  /** Whether the sign-in page has its button. */
  readonly shown: boolean;
  /** What differs from the defaults. */
  readonly mapping: Mapping;
  /** Undefined in rows of older versions. */
  readonly groups?: GroupMapping | null;
  readonly createAccounts: boolean;
  readonly linking: (typeof linkingModes)[number];
  readonly emailTrust: (typeof emailTrusts)[number];
  readonly assurance: readonly AssuranceRule[];
  readonly upstreamLogout: boolean;
}

/** Of the kinds `oidc` and `oauth`. */
export interface OidcSettings extends SharedSettings {
  readonly oidc: UpstreamClient;
  readonly saml?: undefined;
}

export interface SamlSettings extends SharedSettings {
  readonly saml: SamlProvider;
  readonly oidc?: undefined;
}

export type SignInSettings = OidcSettings | SamlSettings;

/** Who vouches for a subject: the issuer, or the entityID. */
export const issuerOf = ({ oidc, saml }: SignInSettings): string => oidc?.issuer ?? saml?.entityId ?? "";

/** Of a connection whose kind says that it has one. */
export function clientOf({ oidc }: SignInSettings): UpstreamClient {
  if (oidc === undefined) throw new Error("the connection is to no OpenID provider");
  return oidc;
}

/** As `clientOf`. */
export function providerOf({ saml }: SignInSettings): SamlProvider {
  if (saml === undefined) throw new Error("the connection is to no SAML identity provider");
  return saml;
}

/** `path` is a JSON Pointer of the wire. */
export interface SettingsFault {
  readonly path: string;
  readonly message: string;
}
