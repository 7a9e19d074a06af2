/** What an issuer for tests begins with: the same form as `signet.dev.yaml`, each part with a default. */

/** A user of the organisation. */
export interface TestUserDocument {
  readonly email: string;
  /** Default: one that is made up. */
  readonly password?: string;
  readonly firstname?: string;
  readonly surname?: string;
  readonly phone?: string;
  /** Default: `Standard`. */
  readonly role?: "Standard" | "Administrator";
  /** Keys of roles; `application/key` for a role of an application. */
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
}

/** An application: the members of `signet config apply`, and `url`, which fills in its addresses. */
export interface TestApplicationDocument {
  readonly name: string;
  /** Names it in tests and `.env` files. Default: its name in small letters. */
  readonly externalKey?: string;
  /** Default: `confidential`. */
  readonly clientType?: "confidential" | "public" | "native" | "spa";
  /** Where it runs: makes `{url}/signet/callback` its redirect URI, or `{url}/` and `{url}/callback` for a single-page application. */
  readonly url?: string;
  readonly redirectUris?: readonly string[];
  readonly postLogoutRedirectUris?: readonly string[];
  readonly allowedScopes?: readonly string[];
  readonly audience?: string;
  readonly accessTokenLifetimeSeconds?: number;
  readonly [setting: string]: unknown;
}

/** A role, of the organisation or of an application. */
export interface TestRoleDocument {
  readonly key: string;
  /** The key of its application. Default: the organisation's own. */
  readonly application?: string;
  readonly name?: string;
  readonly permissions?: readonly string[];
}

/** An organisation, as `signet.dev.yaml` has it. */
export interface TestOrganisationDocument {
  readonly name: string;
  readonly users?: readonly TestUserDocument[];
  readonly groups?: readonly string[];
  readonly roles?: readonly TestRoleDocument[];
  readonly applications?: readonly TestApplicationDocument[];
  /** Branding, policies, email texts and scopes: as `signet config apply` takes them. */
  readonly [section: string]: unknown;
}

export const defaultUser = {
  email: "ada@acme.example",
  firstname: "Ada",
  surname: "Lovelace",
  role: "Administrator",
} satisfies TestUserDocument;

const KEY = "signet-testing";
/** Nobody listens there: the code is read off the redirect. */
export const REDIRECT_URI = "http://localhost/signet-testing";
const SCOPES = [
  "openid",
  "profile",
  "email",
  "phone",
  "address",
  "offline_access",
  "roles",
  "groups",
  "permissions",
];

/** Of each organisation, for `tokenFor`: it asks nobody for consent, and may have every standard scope. */
export const tokenApplication = {
  name: "@signet/testing",
  externalKey: KEY,
  clientType: "confidential",
  redirectUris: [REDIRECT_URI],
  grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
  allowedScopes: SCOPES,
  groupsClaim: "all",
} satisfies TestApplicationDocument;

export const isTokenApplication = ({ key }: { readonly key: string }): boolean => key === KEY;
