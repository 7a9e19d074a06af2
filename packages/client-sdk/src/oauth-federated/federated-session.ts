/** The content of the sealed session cookie, and its principal. */
import { isMlDsaAlg } from "@signet/protocol/jose/ml-dsa";
import { decodeJwt, decodeProtectedHeader, type JWK } from "jose";
import { randomBase64url } from "../base64url.ts";
import { type Principal, principalOfClaims, scopesOfClaims } from "../principal.ts";
import type { OrganisationIssuers } from "../provider/organisation-issuers.ts";
import { type FetchedUserinfo, withoutProtocolClaims } from "../provider/userinfo.ts";
import { isRecord, type SubjectClaims } from "../tokens/claims.ts";
import type { TokenResponse } from "./provider-calls.ts";

export interface FederatedSession {
  /** Of this sign-in at this application. */
  readonly id: string;
  /** Provider and client: a session of another one is ignored. */
  readonly party: string;
  /** Verified when it was issued. Source of the claims, and the `id_token_hint` for signing out as long as it has its signature. */
  readonly idToken: string;
  /** From the ID token of the sign-in: refreshed ones may lack `sid`. */
  readonly sid?: string;
  /** `iat` of that ID token, in seconds. */
  readonly since: number;
  readonly userinfo: Readonly<Record<string, unknown>>;
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly scope: string;
  /** The private key that the tokens are bound to (RFC 9449). */
  readonly dpopKey?: JWK;
  /** Whether a trusted agent's key has signed the access token. */
  readonly isSigned?: boolean;
  /** Whether a trusted key has signed the userinfo. */
  readonly isUserinfoSigned?: boolean;
  /** Milliseconds since the epoch: when to refresh, and when the access token expires. */
  readonly refreshAt: number;
  readonly endsAt: number;
}

/** Covers a short outage of the provider, and tabs that are late. */
const MARGIN_MS = 60_000;

interface NewSession {
  readonly party: string;
  readonly idToken: string;
  readonly claims: SubjectClaims;
  readonly fetched: FetchedUserinfo;
  readonly response: TokenResponse;
  readonly dpopKey?: JWK | undefined;
  /** As requested: what a response without `scope` means (RFC 6749 §5.1). */
  readonly scope: string;
  readonly isSigned: boolean;
  /** The organisation's agents sign the tokens. */
  readonly isSovereign: boolean;
}

export function createSession(login: NewSession, now: number): FederatedSession {
  const { party, claims, scope, dpopKey } = login;
  const { sid, iat: since } = claims;
  const session = {
    id: randomBase64url(16),
    party,
    since,
    scope,
    ...(typeof sid === "string" ? { sid } : {}),
    ...(dpopKey ? { dpopKey } : {}),
  };
  return withNewTokens(session, login, now);
}

/** Keeps the old refresh token if the provider doesn't rotate it (RFC 6749 §6). */
export function withNewTokens(
  session: Pick<FederatedSession, "id" | "party" | "since" | "sid" | "scope" | "refreshToken" | "dpopKey">,
  tokens: Pick<NewSession, "response" | "idToken" | "fetched" | "isSigned" | "isSovereign">,
  now: number,
): FederatedSession {
  const { response, fetched, isSigned } = tokens;
  const idToken = keptIdToken(tokens.idToken, response.accessToken);
  const scope = response.scopes?.join(" ") ?? session.scope;
  return {
    ...session,
    idToken,
    userinfo: fetched.claims,
    isUserinfoSigned: fetched.isSigned,
    scope,
    isSigned,
    ...tokenMembers(tokens, now),
  };
}

/** Of both tokens. What else a session has, and the encryption, fill the rest of what cookies can hold. */
const MAX_KEPT_LENGTH = 7_000;

/**
 * Two signatures of ML-DSA do not fit in cookies, and that of the ID token has been verified: without it the token is no hint for
 * the provider any more, so that the user confirms the sign-out there.
 */
function keptIdToken(idToken: string, accessToken: string): string {
  if (idToken.length + accessToken.length <= MAX_KEPT_LENGTH) return idToken;
  if (!isMlDsaAlg(decodeProtectedHeader(idToken).alg)) return idToken;
  return idToken.slice(0, idToken.lastIndexOf(".") + 1);
}

/** The ID token as the provider takes it. */
export const idTokenHint = ({ idToken }: Pick<FederatedSession, "idToken">): string | undefined =>
  idToken.endsWith(".") ? undefined : idToken;

function tokenMembers(
  {
    response,
    idToken,
    isSigned,
    isSovereign,
  }: Pick<NewSession, "response" | "idToken" | "isSigned" | "isSovereign">,
  now: number,
) {
  const { accessToken, refreshToken, expiresAt, hasExpiry } = response;
  const { exp = 0 } = decodeJwt(idToken);
  // Without expires_in, the ID token's expiry is the best estimate.
  const told = hasExpiry ? expiresAt : Math.max(exp * 1000, expiresAt);
  // Nobody has signed expires_in: the service alone must not prolong what the agents have signed.
  const signedUntil = isSigned ? Math.min(exp, decodeJwt(accessToken).exp ?? 0) : exp;
  const endsAt = isSovereign ? Math.min(told, signedUntil * 1000) : told;
  const margin = Math.min(MARGIN_MS, Math.max(0, endsAt - now) / 5);
  return {
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    refreshAt: Math.floor(endsAt - margin),
    endsAt,
  };
}

const stringMembers = ["id", "idToken", "accessToken", "scope"] as const;
const numberMembers = ["since", "refreshAt", "endsAt"] as const;

/** @param value the sealed cookie's, possibly of another provider, client or SDK version */
export function parseSession(value: unknown, party: string): FederatedSession | undefined {
  if (!isRecord(value) || value["party"] !== party || !isRecord(value["userinfo"])) return undefined;
  const isComplete =
    stringMembers.every((name) => typeof value[name] === "string") &&
    numberMembers.every((name) => typeof value[name] === "number");
  return isComplete ? (value as unknown as FederatedSession) : undefined;
}

interface PrincipalSource {
  /** Present for an application of several organisations. */
  readonly organisations?: OrganisationIssuers | undefined;
  readonly clientId: string;
  /** Calls APIs with a bound token; undefined for bearer tokens, which anything can send. */
  readonly fetchOf?: ((session: FederatedSession) => Principal["fetch"]) | undefined;
  /** The organisation's agents sign the tokens. */
  readonly isSovereign: boolean;
}

/**
 * Claims of ID token and userinfo; the signed ID token takes precedence. With signing agents, whoever can change what the
 * service says could make anyone an administrator: then only tokens and userinfo count that a trusted key has signed.
 */
export function principalOfSession(session: FederatedSession, source: PrincipalSource): Principal {
  const { idToken, userinfo, accessToken, scope } = session;
  const { clientId, isSovereign, organisations } = source;
  const organisationId = organisations?.find(decodeJwt(idToken).iss)?.organisationId;
  const fetch = source.fetchOf?.(session);
  const common = { authenticatedBy: "OAuthFederated", accessToken, clientId, organisationId, fetch } as const;
  const scopes = scope.split(" ").filter((name) => name !== "");
  if (!isSovereign)
    return principalOfClaims({ ...common, claims: { ...userinfo, ...decodeJwt(idToken) }, scopes });
  const signed = session.isSigned ? decodeJwt(accessToken) : {};
  const [agreed, told] = session.isUserinfoSigned ? [userinfo, {}] : [{}, userinfo];
  return principalOfClaims({
    ...common,
    claims: { ...agreed, ...withoutProtocolClaims(signed), ...decodeJwt(idToken) },
    scopes: scopesOfClaims(signed),
    unsigned: { userinfo: told, scopes },
  });
}
