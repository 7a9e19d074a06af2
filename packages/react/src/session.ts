/** The session that all tabs of an origin share, and the checks of an ID token. */
import { claimsOf } from "./base64url.ts";
import { SignetClientError } from "./errors.ts";
import type { TokenAnswer } from "./issuer.ts";

/** Claims of ID token and userinfo, under the specification's names and the standards'. */
export interface SignetUser {
  /** The same as `permId`. */
  readonly sub: string;
  /** The user's permanent id. */
  readonly permId: string;
  readonly name?: string;
  readonly email?: string;
  readonly firstname?: string;
  readonly surname?: string;
  readonly phone?: string;
  readonly organisationId?: string;
  readonly role?: string;
  readonly roles?: readonly string[];
  /** Everything that the issuer says. */
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface Session {
  readonly accessToken: string;
  readonly tokenType: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly renewedAt: number;
  readonly refreshToken?: string;
  readonly idToken: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

const DEFAULT_SECONDS = 300;

export function sessionOf(answer: TokenAnswer, before?: Session): Session {
  const { access_token, token_type, expires_in = DEFAULT_SECONDS } = answer;
  const idToken = answer.id_token ?? before?.idToken;
  if (idToken === undefined)
    throw new SignetClientError("answer", "The issuer gave no ID token: scope must include openid.");
  // Without rotation the old one stays (RFC 6749 §6).
  const refreshToken = answer.refresh_token ?? before?.refreshToken;
  return {
    accessToken: access_token,
    tokenType: token_type,
    expiresAt: Date.now() + expires_in * 1000,
    renewedAt: Date.now(),
    ...(refreshToken === undefined ? {} : { refreshToken }),
    idToken,
    claims: { ...before?.claims, ...claimsOf(idToken) },
  };
}

export interface IdTokenChecks {
  readonly issuer: string;
  readonly clientId: string;
  /** Of the request; undefined after a refresh. */
  readonly nonce?: string;
  /** Of the session before a refresh. */
  readonly sub?: unknown;
}

const TOLERANCE_SECONDS = 120;

/**
 * OpenID Connect Core §3.1.3.7. The token came from the issuer itself over TLS, which stands for its signature (step 6).
 * @throws SignetClientError `answer`
 */
export function checkIdToken(idToken: string, { issuer, clientId, nonce, sub }: IdTokenChecks): void {
  const claims = claimsOf(idToken);
  const audience = [claims["aud"]].flat();
  const now = Date.now() / 1000;
  const faults = [
    claims["iss"] === issuer ? undefined : "names another issuer",
    audience.includes(clientId) && (claims["azp"] ?? clientId) === clientId
      ? undefined
      : "is for another client",
    Number(claims["exp"]) > now - TOLERANCE_SECONDS && Number(claims["iat"]) < now + TOLERANCE_SECONDS
      ? undefined
      : "is not of this time: check this machine's clock",
    nonce === undefined || claims["nonce"] === nonce ? undefined : "belongs to another sign-in",
    sub === undefined || claims["sub"] === sub ? undefined : "is about another user",
  ];
  const fault = faults.find((one) => one !== undefined);
  if (fault !== undefined) throw new SignetClientError("answer", `The ID token ${fault}.`);
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export function userOf({ claims }: Pick<Session, "claims">): SignetUser {
  const sub = String(claims["sub"]);
  const { roles } = claims;
  const found = {
    name: text(claims["name"]),
    email: text(claims["email"]),
    firstname: text(claims["given_name"]),
    surname: text(claims["family_name"]),
    phone: text(claims["phone_number"]),
    organisationId: text(claims["org_id"]) ?? /\/oauth\/([0-9a-f-]{36})$/.exec(String(claims["iss"]))?.[1],
    role: text(claims["role"]),
    roles: Array.isArray(roles) ? roles.map(String) : undefined,
  };
  const known = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  return { sub, permId: sub, ...known, claims };
}
