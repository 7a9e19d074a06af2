/** Sends a browser to an OpenID provider, and reads who comes back: code with PKCE (OpenID Connect Core §3.1, RFC 9207). */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  clockSkew,
  clockTolerance,
  customFetch,
  None,
  type ServerMetadata,
} from "openid-client";
import type { Clock } from "../../../../core/clock.ts";
import { upstreamAcr } from "../../../../core/connections/sign-in/assurance.ts";
import { openSecret } from "../../../../core/connections/sign-in/client-secret.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { isStorable } from "../../../../core/connections/sign-in/mapping.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { clientOf } from "../../../../core/connections/sign-in/sign-in-settings.ts";
import { upstreamAuthentication } from "../../../../core/connections/sign-in/upstream-sign-ins.ts";
import type { Encryption } from "../../../../core/encryption/encryption.ts";
import type { Outbound } from "../../../../core/outbound/outbound.ts";
import type { Upstream, UpstreamBegin, UpstreamReturn, UpstreamReturned } from "../upstream.ts";
import { completeClaims } from "./complete-claims.ts";
import { logoutAddress, readLogoutToken } from "./oidc-logout.ts";
import { outboundFetch } from "./outbound-fetch.ts";
import { type ProviderMetadata, providerMetadata } from "./provider-metadata.ts";
import { translateFailure } from "./translate-failure.ts";
import { type UpstreamKeys, upstreamKeys } from "./upstream-keys.ts";

export interface OidcDeps {
  readonly outbound: Outbound;
  readonly encryption: Encryption;
  readonly clock: Clock;
  onKeys(connection: SignInConnection, thumbprints: readonly string[]): Promise<void>;
}

interface Parts extends OidcDeps {
  readonly metadata: ProviderMetadata;
  readonly keys: UpstreamKeys;
}

/** connections.md §5: `exp` and `iat` are held to 60 s. */
const TOLERANCE_SECONDS = 60;
/** OpenID Connect Core §2: a `sub` has at most 255 ASCII characters. */
const MAX_SUBJECT = 255;

export function oidcUpstream(deps: OidcDeps): Upstream {
  const parts: Parts = { ...deps, metadata: providerMetadata(deps.outbound), keys: upstreamKeys(deps) };
  return {
    begin: (connection, asked) => translated(begin(parts, connection, asked)),
    receive: (connection, back) => translated(receive(parts, connection, back)),
    logoutAddress: (connection, signOut) => translated(logoutAddress(parts, connection, signOut)),
    readLogout: (connection, token) => translated(readLogoutToken(parts, connection, token)),
  };
}

async function translated<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw translateFailure(error) ?? error;
  }
}

async function configuration(parts: Parts, connection: SignInConnection, metadata: ServerMetadata) {
  const { clientId } = clientOf(connection.settings);
  const skew = Math.round((parts.clock() - Date.now()) / 1000);
  const client = { [clockSkew]: skew, [clockTolerance]: TOLERANCE_SECONDS };
  const config = new Configuration(metadata, clientId, client, clientAuth(parts, connection));
  config[customFetch] = outboundFetch(parts.outbound, connection.orgId);
  // The outbound client has its own time limit, and takes http on loopback alone.
  allowInsecureRequests(config);
  return config;
}

function clientAuth({ encryption }: Parts, connection: SignInConnection): ClientAuth {
  const secret = openSecret(encryption, connection);
  if (secret === undefined) return None();
  return clientOf(connection.settings).tokenEndpointAuthMethod === "client_secret_post"
    ? ClientSecretPost(secret)
    : ClientSecretBasic(secret);
}

async function begin(parts: Parts, connection: SignInConnection, asked: UpstreamBegin): Promise<string> {
  const { issuer, scopes } = clientOf(connection.settings);
  const metadata = await parts.metadata.of(connection.orgId, issuer);
  const config = await configuration(parts, connection, metadata);
  const { loginHint, mustReauthenticate, maxAgeSeconds, redirectUri, state, nonce, verifier } = asked;
  return buildAuthorizationUrl(config, {
    ...{ redirect_uri: redirectUri, scope: scopes.join(" "), state, nonce },
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
    ...(mustReauthenticate ? { prompt: "login" } : {}),
    ...(maxAgeSeconds === undefined ? {} : { max_age: String(maxAgeSeconds) }),
  }).href;
}

async function receive(
  parts: Parts,
  connection: SignInConnection,
  { address, state, nonce, verifier, maxAgeSeconds, authenticatedSince }: UpstreamReturn,
): Promise<UpstreamReturned> {
  const { issuer } = clientOf(connection.settings);
  const metadata = await parts.metadata.of(connection.orgId, issuer);
  requireIssuer(metadata, address.searchParams.getAll("iss"));
  const config = await configuration(parts, connection, metadata);
  const tokens = await authorizationCodeGrant(config, address, {
    ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
    ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds }),
  });
  const claims = tokens.claims();
  if (claims === undefined || tokens.id_token === undefined || metadata.jwks_uri === undefined)
    throw new ConnectionSignInFailure("upstream-garbage", { detail: "no ID token" });
  // TLS vouches for the token endpoint alone: whoever took that over still lacks the keys.
  await parts.keys.verify(connection, metadata.jwks_uri, tokens.id_token);
  const { sub: subject, auth_time: authTime } = claims;
  if (subject === "" || subject.length > MAX_SUBJECT || !isStorable(subject))
    throw new ConnectionSignInFailure("subject-missing");
  if (
    authenticatedSince !== undefined &&
    authTime !== undefined &&
    (authTime + TOLERANCE_SECONDS) * 1000 < authenticatedSince
  )
    throw new ConnectionSignInFailure("stale-authentication", { subject });
  const acr = upstreamAcr(connection.settings.assurance, claims);
  const isHintKept = connection.settings.upstreamLogout && metadata.end_session_endpoint !== undefined;
  const upstream = upstreamAuthentication(claims, issuer, isHintKept ? { logoutHint: tokens.id_token } : {});
  const signed = { claims, subject, accessToken: tokens.access_token };
  const { user, groupIds, claims: all } = await completeClaims(config, connection.settings, signed);
  return { identity: { subject, user, acr, groupIds, upstream }, claims: all };
}

/** RFC 9207 §2.4: sent or announced, it is the issuer exactly. */
function requireIssuer(metadata: ServerMetadata, sent: readonly string[]): void {
  const isAnnounced = metadata.authorization_response_iss_parameter_supported === true;
  if (sent.length === 0 && !isAnnounced) return;
  if (sent.length === 1 && sent[0] === metadata.issuer) return;
  throw new ConnectionSignInFailure("issuer-mismatch", { detail: "iss of the authorization response" });
}
