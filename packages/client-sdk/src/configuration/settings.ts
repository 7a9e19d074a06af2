/** The configuration an application writes, and the checked settings a filter works with. */
import type { JWK } from "jose";
import type { FilterType } from "../filter.ts";

/** FAPI 2.0: how much of it a client does. */
export type SecurityProfile = "none" | "fapi2" | "fapi2-message-signing";

/** Every property (specification, "Client configuration (SDK)"). `SignetConfiguration` says which ones a filter needs. */
export interface ConfigurationProperties {
  /** The service's base URL, e.g. `https://id.example.com`. Required unless `issuer` is given. */
  readonly federationServer?: string;
  /** The application's PublicId. Required unless `issuer` and `oauthClientId` are given. */
  readonly applicationId?: string;
  /** The mechanism that protects the application. */
  readonly filterType?: FilterType;
  /** Lets requests without credentials through as anonymous. Invalid credentials are always rejected. Default false. */
  readonly isOptional?: boolean;
  /** The organisation's PublicId. Required for OAuth filters with `federationServer`. */
  readonly oauthOrganisationId?: string;
  /** The same as `oauthOrganisationId`. */
  readonly organisationId?: string;
  /**
   * Instead of `oauthOrganisationId`, for an application that several organisations share: the organisations whose people and
   * tokens it accepts. Sign-in begins at the service's common entry, and `iss` says whose user it is.
   */
  readonly organisations?: AcceptedOrganisations;
  /** Default: `applicationId`. */
  readonly oauthClientId?: string;
  /** The same as `oauthClientId`, and as `applicationId`: OAuth's name of it (RFC 6749 §2.2). */
  readonly clientId?: string;
  /** Space-separated. OAuthFederated requests them (default `openid profile email`), OAuthUserBearer requires them. */
  readonly oauthScopes?: string;
  /** The same as `oauthScopes` (RFC 6749 §3.3). */
  readonly scope?: string;
  /**
   * The signature algorithm ID and logout tokens must have: the one registered for the application
   * (`idTokenSignedResponseAlg`). Default: what registrations default to, `ES256` at Signet and `RS256` at other providers; with
   * signing agents, what their keys are for.
   */
  readonly oauthIdTokenAlg?: string;
  /**
   * OAuthUserBearer: fetches the user's properties from userinfo, once a minute and token, for tokens with the scope `openid`.
   * Default true.
   */
  readonly oauthUserinfo?: boolean;
  /** The audience access tokens must be issued for. Required for OAuthUserBearer. */
  readonly oauthAudience?: string;
  /** The same as `oauthAudience`. */
  readonly audience?: string;

  /** The pool whose signing agents sign the tokens. In production, combine it with one of the three pins. */
  readonly sovereignSigningPoolId?: string;
  /** PEM, one certificate per item. */
  readonly sovereignTrustedRootCertificates?: readonly string[];
  /** RFC 7638 thumbprints: SHA-256, base64url. */
  readonly sovereignKeyThumbprints?: readonly string[];
  /** JWKs, or PEM (SPKI). */
  readonly sovereignPublicKeys?: readonly (JWK | string)[];
  /** The only `kid` to accept. Combines with any mode. */
  readonly sovereignRequiredKeyId?: string;
  /** Accepts a pool without a pin in production. */
  readonly sovereignAllowUnpinned?: boolean;
  /** The pool's `issuerMode`: which issuer its tokens name. Default `pool`. */
  readonly sovereignIssuerMode?: "pool" | "organisation";

  /**
   * An organisation's issuer, `{federationServer}/oauth/{organisation}`, or that of any other standards-compliant OpenID provider,
   * instead of `federationServer` and `oauthOrganisationId`.
   */
  readonly issuer?: string;
  /** `production` (default) rejects development settings: plain http to other hosts, an unpinned pool. */
  readonly environment?: "production" | "staging" | "development";

  /** The secret of a confidential client. */
  readonly oauthClientSecret?: string;
  /** The same as `oauthClientSecret` (RFC 6749 §2.3.1). */
  readonly clientSecret?: string;
  /**
   * What the client does in every request, as the application's `securityProfile` has it at the service. `fapi2` (FAPI 2.0 Security
   * Profile): pushed requests, PKCE, tokens bound to keys or certificates. `fapi2-message-signing`: also signed requests, responses
   * and introspection. An API then takes bound tokens alone. Default `none`.
   */
  readonly securityProfile?: SecurityProfile;
  /** The client's private key, a JWK: authenticates it (`private_key_jwt`) and signs its requests. */
  readonly oauthClientKey?: JWK;
  /** PEM: the client's certificate, intermediate ones after it. Authenticates it (mutual TLS), and tokens are bound to it. */
  readonly oauthClientCertificate?: string;
  /** PEM (PKCS#8): the private key of `oauthClientCertificate`. */
  readonly oauthClientCertificateKey?: string;
  /** The application's public origin, e.g. `https://app.example.com`. Redirects use it, never the Host header. */
  readonly baseUrl?: string;
  /** At least 32 random bytes each, base64url. The first encrypts cookies, all of them decrypt. */
  readonly cookieSecrets?: readonly string[];
  /** Prefix of the filter's own routes: `/callback`, `/login`, `/logout`, `/back-channel-logout`. Default `/signet`. */
  readonly basePath?: string;
  /** The application's path users land on after signing out. Default `/`. */
  readonly afterLogoutPath?: string;
  /** Seconds after which UserFederated asks the service again whether a session key is valid. Default 60. */
  readonly revalidateAfterSeconds?: number;
  /** OAuthUserBearer: introspect every token (RFC 7662), so that a revoked one is rejected immediately. Default false. */
  readonly introspectTokens?: boolean;
  /** OAuthUserBearer: accept a `typ` other than `at+jwt`, as some providers issue. Never an ID token. Default false. */
  readonly allowUntypedAccessTokens?: boolean;
  /** Key pair of a system account: for SystemAccountExternal, and for UserFederated if calls must be signed. */
  readonly systemAccountPublicKey?: string;
  /** `sgn_sa_…`; never sent. */
  readonly systemAccountSecretKey?: string;
  /**
   * SystemAccountExternal: also accepts the specification's plain form, a signature of the body alone. Anyone who sees such a
   * request can replay it, to any path. Default false.
   */
  readonly acceptPlain?: boolean;

  /**
   * OAuthUserBearer: every token's signature must be in the organisation's ledger, in a checkpoint that witnesses have cosigned, so
   * that nobody signs unseen: neither the service nor a thief of keys. `async`: the request goes on, and the proof is checked behind
   * it; a token without one is refused from then on. Default false.
   */
  readonly requireLedgerProof?: boolean | "async";
  /** The ledger's address. Default: `{federationServer}/ledger/{organisation}`. */
  readonly ledgerUrl?: string;
  /** The key that verifies the ledger's checkpoints, as `signet ledger show` prints it: `<name>+<id>+<base64>`. */
  readonly ledgerKey?: string;
  /** The keys of witnesses, got from whoever runs them and never from the service. */
  readonly ledgerWitnesses?: readonly string[];
  /** How many of them must have cosigned. Default: all. */
  readonly ledgerQuorum?: number;
}

/**
 * Which organisations an application accepts: `any` that has enabled it, the PublicIds of some, or a function, which is asked
 * with every request and gets the PublicId in lower case. While it throws, nobody of that organisation is let in (503).
 */
export type AcceptedOrganisations =
  | "any"
  | readonly string[]
  | ((organisationId: string) => boolean | Promise<boolean>);

/** A configuration whose filter is known. */
export type FilterProperties = Requiring<"filterType">;

/** All properties, some of them required. */
export type Requiring<Names extends keyof ConfigurationProperties> = ConfigurationProperties & {
  readonly [Name in Names]-?: Exclude<ConfigurationProperties[Name], undefined>;
};

/** An application, by either name of its id. */
export type ApplicationProperties = Requiring<"applicationId"> | Requiring<"clientId">;
/** An organisation of the service, or several, and an application of it. */
export type OrganisationProperties = Requiring<"federationServer"> &
  (Requiring<"oauthOrganisationId"> | Requiring<"organisationId"> | Requiring<"organisations">) &
  ApplicationProperties;
/** Any OpenID provider. */
export type IssuerProperties = Requiring<"issuer">;

/** What `oauthFederated` needs. */
export type OAuthFederatedConfiguration = Requiring<"baseUrl" | "cookieSecrets"> &
  (OrganisationProperties | (IssuerProperties & (ApplicationProperties | Requiring<"oauthClientId">)));
/** What `oauthUserBearer` needs. */
export type OAuthUserBearerConfiguration = (Requiring<"oauthAudience"> | Requiring<"audience">) &
  (OrganisationProperties | IssuerProperties);
/** What `userFederated` needs. */
export type UserFederatedConfiguration = Requiring<"federationServer" | "baseUrl" | "cookieSecrets"> &
  ApplicationProperties;
/** What `systemAccountExternal` needs; and a key pair, or the option `secretKeyOf`. */
export type SystemAccountExternalConfiguration = Requiring<"federationServer"> & ApplicationProperties;

/**
 * The configuration of one filter, told apart by `filterType`: a property that its type needs, and that is missing, does not
 * compile.
 */
export type FilterOptions =
  | (OAuthFederatedConfiguration & { readonly filterType: "OAuthFederated" })
  | (OAuthUserBearerConfiguration & { readonly filterType: "OAuthUserBearer" })
  | (UserFederatedConfiguration & { readonly filterType: "UserFederated" })
  | (SystemAccountExternalConfiguration & { readonly filterType: "SystemAccountExternal" })
  | (ConfigurationProperties & { readonly filterType: "None" });

/** The same as `FilterOptions`. */
export type SignetConfiguration = FilterOptions;

/** A checked configuration with all defaults applied. Properties the filter has no use for are absent. */
export interface Settings {
  readonly filterType: FilterType;
  readonly isOptional: boolean;
  readonly environment: "production" | "staging" | "development";
  /** Without a trailing slash. */
  readonly federationServer?: string;
  /** In lower case, as in tokens. */
  readonly applicationId?: string;
  /** `{federationServer}/oauth/{org}`, or as configured. */
  readonly issuer?: string;
  /** Instead of `issuer` and `tokenIssuer`. Ids are in lower case. */
  readonly organisations?: AcceptedOrganisations;
  /** The expected `iss`: `{issuer}/sovereign/pools/{pool}` for a pool with issuer mode `pool`, otherwise `issuer`. */
  readonly tokenIssuer?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly securityProfile?: SecurityProfile;
  readonly clientKey?: JWK;
  /** PEM. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
  /** Of ID and logout tokens; absent: any that fits the key. */
  readonly idTokenAlg?: string;
  readonly fetchesUserinfo?: boolean;
  readonly acceptPlain?: boolean;
  readonly scopes: readonly string[];
  readonly audience?: string;
  /** An origin: no path, no trailing slash. */
  readonly baseUrl?: string;
  /** With a leading slash and no trailing slash. */
  readonly basePath: string;
  readonly afterLogoutPath: string;
  /** Base64url. */
  readonly cookieSecrets: readonly string[];
  readonly revalidateAfterSeconds: number;
  readonly introspectTokens: boolean;
  readonly allowUntypedAccessTokens: boolean;
  readonly systemAccount?: { readonly publicKey: string; readonly secretKey: string };
  /** Present with a pool, a pin, or both. */
  readonly sovereign?: SovereignSettings;
  /** Present if tokens need a proof of their signature. */
  readonly ledger?: LedgerSettings;
}

/** Which ledger is believed (threshold-and-ledger.md §2). */
export interface LedgerSettings {
  /** `wait`: a token is accepted once it is proven. `async`: it is checked behind the request. */
  readonly mode: "wait" | "async";
  /** Without a trailing slash. */
  readonly url: string;
  /** Verifier keys of C2SP signed-note. */
  readonly key: string;
  readonly witnesses: readonly string[];
  readonly quorum: number;
}

/** How keys of signing agents are trusted (sovereign-signing.md §8). At most one of the three lists has items. */
export interface SovereignSettings {
  readonly poolId?: string;
  readonly poolIssuer?: string;
  /** PEM, one certificate per item. */
  readonly trustedRoots: readonly string[];
  /** RFC 7638 thumbprints: SHA-256, base64url. */
  readonly thumbprints: readonly string[];
  /** JWKs, or PEM (SPKI). */
  readonly publicKeys: readonly (JWK | string)[];
  readonly requiredKeyId?: string;
  /** Accepts a pool without a pin in production. */
  readonly allowUnpinned: boolean;
}
