/** What the application's session cookie holds, and the principal it makes. Sealed: the browser reads none of it. */
import { decodeJwt } from "jose";
import { type Principal, principalOfClaims } from "../principal.ts";
import { randomText } from "../sign-in/random-text.ts";
import { type Claims, isRecord, type SubjectClaims } from "../tokens/claims.ts";
import type { TokenAnswer } from "./token-endpoint.ts";

export interface FederatedSession {
  /** Of this sign-in at this application. */
  readonly id: string;
  /** Provider and client: a session of one of them is none of another. */
  readonly party: string;
  /** Verified when it came; its claims are read from it, and it is the hint for signing out. */
  readonly idToken: string;
  /** Of the ID token of the sign-in: refreshed ones may leave `sid` out. */
  readonly sid?: string;
  /** `iat` of that ID token, seconds. */
  readonly since: number;
  readonly userinfo: Readonly<Record<string, unknown>>;
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly scope: string;
  /** Milliseconds since the epoch: from then on it is refreshed, and from then on it must have been. */
  readonly refreshAt: number;
  readonly endsAt: number;
}

/** Long enough for a provider that is away for a moment, and for tabs that come late. */
const MARGIN_MS = 60_000;

export interface NewSession {
  readonly party: string;
  readonly idToken: string;
  readonly claims: SubjectClaims;
  readonly userinfo: Readonly<Record<string, unknown>>;
  readonly answer: TokenAnswer;
  /** Asked for: what an answer without `scope` means (RFC 6749 §5.1). */
  readonly scope: string;
}

export function newSession(made: NewSession, now: number): FederatedSession {
  const { party, idToken, claims, userinfo, answer } = made;
  const { sid } = claims;
  return {
    id: randomText(16),
    party,
    idToken,
    ...(typeof sid === "string" ? { sid } : {}),
    since: claims.iat,
    userinfo,
    ...grantOf(answer, claims, now),
    scope: answer.scopes?.join(" ") ?? made.scope,
  };
}

/** The session with new tokens. A provider that does not rotate refresh tokens gives none, and the old one stays (RFC 6749 §6). */
export function renewedSession(
  session: FederatedSession,
  renewed: Pick<NewSession, "answer" | "idToken" | "userinfo">,
  now: number,
): FederatedSession {
  const { answer, idToken, userinfo } = renewed;
  return {
    ...session,
    idToken,
    userinfo,
    ...grantOf(answer, decodeJwt(idToken) as Claims, now),
    scope: answer.scopes?.join(" ") ?? session.scope,
  };
}

function grantOf(answer: TokenAnswer, { exp = 0 }: Claims, now: number) {
  const { accessToken, refreshToken, expiresAt, isEndKnown } = answer;
  // A provider that does not say when the access token ends says it of the ID token at least.
  const endsAt = isEndKnown ? expiresAt : Math.max(exp * 1000, expiresAt);
  const margin = Math.min(MARGIN_MS, Math.max(0, endsAt - now) / 5);
  return {
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    refreshAt: Math.floor(endsAt - margin),
    endsAt,
  };
}

const textMembers = ["id", "idToken", "accessToken", "scope"] as const;
const numberMembers = ["since", "refreshAt", "endsAt"] as const;

/** @param value what the sealed cookie held: ours, but perhaps of another provider, client or version of the SDK */
export function sessionOf(value: unknown, party: string): FederatedSession | undefined {
  if (!isRecord(value) || value["party"] !== party || !isRecord(value["userinfo"])) return undefined;
  const isWhole =
    textMembers.every((name) => typeof value[name] === "string") &&
    numberMembers.every((name) => typeof value[name] === "number");
  return isWhole ? (value as unknown as FederatedSession) : undefined;
}

/** The claims are those of ID token and userinfo. Where both have one, the ID token's counts: it is signed. */
export function principalOfSession(session: FederatedSession, clientId: string): Principal {
  const { idToken, userinfo, accessToken, scope } = session;
  return principalOfClaims({
    authenticatedBy: "OAuthFederated",
    claims: { ...userinfo, ...decodeJwt(idToken) },
    accessToken,
    scopes: scope.split(" ").filter((name) => name !== ""),
    clientId,
  });
}
