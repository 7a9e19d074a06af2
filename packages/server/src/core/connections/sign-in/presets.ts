/** What is known of the identity providers that a connection can be made for by name. */
import type {
  ClientAuthMethod,
  Expression,
  Preset,
  SignInKind,
  SignInSettings,
  UpstreamClient,
} from "./sign-in-settings.ts";

export interface PresetDefaults extends Partial<Omit<UpstreamClient, "clientId">> {
  readonly kind: SignInKind;
  readonly mapping?: Readonly<Record<string, Expression>>;
}

const GITHUB = "https://github.com";

export const presetDefaults: Readonly<Record<Preset, PresetDefaults>> = {
  // The issuer has the tenant. Its email addresses are what the tenant's administrator writes: `xms_edov` alone says that the
  // domain is the tenant's.
  entra: { kind: "oidc", mapping: { emailVerified: "xms_edov" } },
  google: { kind: "oidc", issuer: "https://accounts.google.com" },
  okta: { kind: "oidc" },
  // With other scopes Apple answers by a form post alone.
  apple: {
    kind: "oidc",
    issuer: "https://appleid.apple.com",
    tokenEndpointAuthMethod: "client_secret_post",
    scopes: ["openid"],
  },
  // OAuth 2.0 without OpenID Connect: see features/oauth/connections/github. Another issuer is a GitHub Enterprise host.
  github: {
    kind: "oauth",
    issuer: GITHUB,
    tokenEndpointAuthMethod: "client_secret_post",
    scopes: ["read:user", "user:email"],
    mapping: { firstname: "name", surname: "=", emailVerified: "email_verified" },
  },
  keycloak: { kind: "oidc" },
};

export const defaultAuthMethod: ClientAuthMethod = "client_secret_basic";
export const defaultScopes: readonly string[] = ["openid", "email", "profile"];

/** OpenID Connect Core §5.1. */
const standardMapping: Readonly<Record<string, Expression>> = {
  email: "email",
  emailVerified: "email_verified",
  firstname: "given_name",
  surname: "family_name",
  phone: "phone_number",
  locale: "locale",
};

/** By the names that Entra ID and AD FS, Keycloak and Shibboleth give them. */
const samlMapping: Readonly<Record<string, Expression>> = {
  email: [
    ...["email", "mail", "emailAddress", "urn:oid:0.9.2342.19200300.100.1.3"],
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
  ],
  firstname: [
    ...["givenName", "firstName", "urn:oid:2.5.4.42"],
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname",
  ],
  surname: [
    ...["surname", "sn", "lastName", "urn:oid:2.5.4.4"],
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname",
  ],
};

/** The standard claims, changed by the preset, changed by the connection. */
export const effectiveMapping = ({
  preset,
  mapping,
  saml,
}: Pick<SignInSettings, "preset" | "mapping" | "saml">): Readonly<Record<string, Expression>> =>
  saml === undefined
    ? { ...standardMapping, ...(preset === null ? {} : presetDefaults[preset].mapping), ...mapping }
    : { ...samlMapping, ...mapping };
