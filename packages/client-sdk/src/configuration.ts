/** The configuration of a filter: the specification's properties in camelCase, and the few that an application adds. */
import type { JWK } from "jose";
import type { FilterType } from "./filter.ts";

/** Specification, "Client configuration (SDK)". */
export interface SignetConfiguration {
  /** The service's base address, e.g. `https://id.example.com`. Required, unless `issuer` is given. */
  readonly federationServer?: string;
  /** The application's PublicId. Required, unless `issuer` and `oauthClientId` are given. */
  readonly applicationId?: string;
  readonly filterType: FilterType;
  /** True lets requests without credentials through, as anonymous; wrong credentials never. Default false. */
  readonly isOptional?: boolean;
  /** The organisation's public id. Required for OAuth filters with `federationServer`. */
  readonly oauthOrganisationId?: string;
  /** Default: `applicationId`. */
  readonly oauthClientId?: string;
  /** Separated by spaces: asked for by OAuthFederated (default `openid profile email`), demanded by OAuthUserBearer. */
  readonly oauthScopes?: string;
  /** What an access token must be made out to. Required for OAuthUserBearer. */
  readonly oauthAudience?: string;

  readonly sovereignSigningPoolId?: string;
  /** PEM, one certificate each. */
  readonly sovereignTrustedRootCertificates?: readonly string[];
  /** RFC 7638, SHA-256, base64url. */
  readonly sovereignKeyThumbprints?: readonly string[];
  /** JWKs, or PEM (SPKI). */
  readonly sovereignPublicKeys?: readonly (JWK | string)[];
  /** Combines with any mode. */
  readonly sovereignRequiredKeyId?: string;
  /** True accepts a pool id alone in production all the same. */
  readonly sovereignAllowUnpinned?: boolean;

  /** Any standards-compliant OpenID provider, instead of `federationServer` and `oauthOrganisationId`. */
  readonly issuer?: string;
  /** `production` (default) refuses what is for development only: plain http to other hosts, an unpinned pool. */
  readonly environment?: "production" | "staging" | "development";

  /** Of a confidential client. */
  readonly oauthClientSecret?: string;
  /** The application's own public address, e.g. `https://app.example.com`: redirects go there, never to what a Host header says. */
  readonly baseUrl?: string;
  /** 32 random bytes or more each, base64url: the first seals cookies, the others still open them. */
  readonly cookieSecrets?: readonly string[];
  /** Where the filter answers itself: `{basePath}/callback`, `/login`, `/logout`, `/back-channel-logout`. Default `/signet`. */
  readonly basePath?: string;
  /** Path of the application that people come to after signing out. Default `/`. */
  readonly afterLogoutPath?: string;
  /** Seconds after which UserFederated asks the service again whether a session key is good. Default 60. */
  readonly revalidateAfterSeconds?: number;
  /** OAuthUserBearer: ask the service about every token (RFC 7662), so that a revoked one is refused at once. Default false. */
  readonly introspectTokens?: boolean;
  /** OAuthUserBearer: accept `typ` other than `at+jwt`, as some providers write it. Never an ID token. Default false. */
  readonly allowUntypedAccessTokens?: boolean;
  /** The keys of a system account: SystemAccountExternal, and UserFederated where the application wants signed calls. */
  readonly systemAccountPublicKey?: string;
  readonly systemAccountSecretKey?: string;
}
