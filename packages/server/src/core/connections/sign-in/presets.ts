/** What is known of the identity providers that a connection can be made for by name. */
import type { ClientAuthMethod, Expression, Preset, SignInKind, UpstreamClient } from "./sign-in-settings.ts";

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
  // OAuth 2.0 without OpenID Connect: see features/oauth/connections/oauth.
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

/** The standard claims, changed by the preset, changed by the connection. */
export const effectiveMapping = ({
  preset,
  mapping,
}: {
  readonly preset: Preset | null;
  readonly mapping: Readonly<Record<string, Expression>>;
}): Readonly<Record<string, Expression>> => ({
  ...standardMapping,
  ...(preset === null ? {} : presetDefaults[preset].mapping),
  ...mapping,
});
