/** The configuration of a filter: the specification's properties in camelCase, and the few that an application adds. */
import type { JWK } from "jose";
import { checkedAddresses } from "./configuration-addresses.ts";
import { checkedCredentials } from "./configuration-credentials.ts";
import { checkedOAuth } from "./configuration-oauth.ts";
import { misfits } from "./configuration-properties.ts";
import { checkedSovereign } from "./configuration-sovereign.ts";
import { SignetError } from "./errors.ts";
import type { FilterType } from "./filter.ts";

/** Specification, "Client configuration (SDK)". */
export interface SignetConfiguration {
  /** The service's base address, e.g. `https://id.example.com`. Required, unless `issuer` is given. */
  readonly federationServer?: string;
  /** The application's PublicId. Required, unless `issuer` and `oauthClientId` are given. */
  readonly applicationId?: string;
  /** Which mechanism protects the application. */
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

  /** The pool whose signing agents sign the tokens; in production with one of the three pins. */
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
  /** The pool's `issuerMode`: whom its tokens name as their issuer. Default `pool`. */
  readonly sovereignIssuerMode?: "pool" | "organisation";

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
  /** `sgn_sa_…`; never sent. */
  readonly systemAccountSecretKey?: string;
}

/** A configuration that has been checked, with every default in place. Only what the filter can use is there. */
export interface Settings {
  readonly filterType: FilterType;
  readonly isOptional: boolean;
  readonly environment: "production" | "staging" | "development";
  /** Without a slash at the end. */
  readonly federationServer?: string;
  /** Lower case, as tokens have it. */
  readonly applicationId?: string;
  /** `{federationServer}/oauth/{org}`, or as given. */
  readonly issuer?: string;
  /**
   * What tokens name as their issuer: that of the signing pool `{issuer}/sovereign/pools/{pool}`; without a pool, or with one
   * whose issuer mode is `organisation`, `issuer`.
   */
  readonly tokenIssuer?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes: readonly string[];
  readonly audience?: string;
  /** An origin: no path, no slash at the end. */
  readonly baseUrl?: string;
  /** Begins with a slash and does not end with one. */
  readonly basePath: string;
  readonly afterLogoutPath: string;
  /** Base64url. */
  readonly cookieSecrets: readonly string[];
  readonly revalidateAfterSeconds: number;
  readonly introspectTokens: boolean;
  readonly allowUntypedAccessTokens: boolean;
  readonly systemAccount?: { readonly publicKey: string; readonly secretKey: string };
  /** With a pool, a pin, or both. */
  readonly sovereign?: SovereignSettings;
}

/** How keys of signing agents are trusted (sovereign-signing.md §8): at most one of the three lists has members. */
export interface SovereignSettings {
  readonly poolId?: string;
  readonly poolIssuer?: string;
  /** PEM, one certificate each. */
  readonly trustedRoots: readonly string[];
  /** RFC 7638, SHA-256, base64url. */
  readonly thumbprints: readonly string[];
  /** JWKs, or PEM (SPKI). */
  readonly publicKeys: readonly (JWK | string)[];
  readonly requiredKeyId?: string;
  /** True accepts a pool id alone in production. */
  readonly allowUnpinned: boolean;
}

/**
 * Checks a configuration and fills in what is not said. Throws `SignetError` `configuration`, whose `reasons` has every fault
 * at once: an application with a configuration that could not protect it does not start.
 */
export function checkConfiguration(configuration: SignetConfiguration): Settings {
  // First the forms alone: the checks behind them can then rely on the types.
  refuse(misfits(configuration));
  const reasons: string[] = [];
  const fault = (reason: string) => void reasons.push(reason);
  const { filterType, isOptional = false, environment = "production" } = configuration;
  const addresses = checkedAddresses(configuration, fault);
  const settings: Settings = {
    filterType,
    isOptional,
    environment,
    ...addresses,
    ...checkedCredentials(configuration, fault),
    ...checkedOAuth(configuration, fault),
    ...checkedSovereign(configuration, addresses.issuer, fault),
    revalidateAfterSeconds: configuration.revalidateAfterSeconds ?? 60,
  };
  refuse(reasons);
  return settings;
}

function refuse(reasons: readonly string[]): void {
  if (reasons.length === 0) return;
  throw new SignetError("configuration", `The configuration cannot work: ${reasons.join(" ")}`, { reasons });
}
