/** Userinfo (OpenID Connect Core §5.3): a user's claims, as JSON that nobody has signed, or as a JWT. */
import { SignetError } from "../errors.ts";
import type { Dpop } from "../security-profile/dpop.ts";
import { type Claims, isRecord } from "../tokens/claims.ts";
import { type JwtChecks, TOLERANCE_SECONDS, verifyJwt } from "../tokens/verify-jwt.ts";
import type { Provider } from "./discovery.ts";
import { type Http, providerError } from "./http.ts";

export type Userinfo = Readonly<Record<string, unknown>>;

export interface FetchedUserinfo {
  readonly claims: Userinfo;
  /** A trusted key has signed it, for this client and now. */
  readonly isSigned: boolean;
}

/** Claims only a signed token may make: userinfo must not describe the authentication. */
const protocolClaims: ReadonlySet<string> = new Set(
  "iss aud azp exp iat nbf jti nonce auth_time acr amr sid at_hash c_hash s_hash cnf events client_id scope act".split(
    " ",
  ),
);

interface UserinfoSource {
  readonly provider: Pick<Provider, "metadata">;
  readonly http: Http;
  /** The key that the token is bound to (RFC 9449). */
  readonly dpop?: Dpop | undefined;
  /** The token is bound to the certificate that the calls present (RFC 8705 §5). */
  readonly usesMtlsEndpoints?: boolean;
  /** What a signed response must match; absent: JSON alone. */
  readonly signed?: UserinfoSignature | undefined;
}

export interface UserinfoSignature extends Pick<JwtChecks, "keys" | "issuer" | "clock"> {
  /** To which the access token was issued. */
  readonly clientId: string;
  /** The keys are those of the organisation's agents: who relays the answer must not choose among what they have signed. */
  readonly isSovereign: boolean;
}

/** Agents sign no older answer (120 s), and both clocks may be off. */
const MAX_AGE_SECONDS = 120 + TOLERANCE_SECONDS;
/** Members that an agent signs in tokens for the same client, and in no userinfo. */
const tokenMembers = ["exp", "nonce", "client_id", "auth_time", "at_hash", "jti", "sid", "events"];

/**
 * @param sub of the verified token. @returns empty if the provider has no userinfo endpoint
 * @throws SignetError `token_subject` if the claims are about another user (§5.3.2), `provider_…`
 */
export async function fetchUserinfo(
  source: UserinfoSource,
  accessToken: string,
  sub: string,
): Promise<FetchedUserinfo> {
  const { provider, http, dpop, usesMtlsEndpoints } = source;
  const metadata = await provider.metadata();
  const alias = usesMtlsEndpoints ? metadata.mtls_endpoint_aliases?.["userinfo_endpoint"] : undefined;
  const url = alias ?? metadata.userinfo_endpoint;
  if (url === undefined) return { claims: {}, isSigned: false };
  const get = (headers: Readonly<Record<string, string>>) => http.json(url, { headers });
  const authorization = `${dpop ? "DPoP" : "Bearer"} ${accessToken}`;
  const response = dpop
    ? await dpop.send({ method: "GET", url, accessToken }, (proof) => get({ ...proof, authorization }))
    : await get({ authorization });
  if (response.status !== 200) throw providerError(response, "userinfo");
  const { claims, isSigned } = await readClaims(source, response.body);
  if (claims["sub"] !== sub)
    throw new SignetError("token_subject", "Userinfo is about another user than the ID token.");
  return { claims: withoutProtocolClaims(claims), isSigned };
}

/** JSON, or a JWT of the provider for this client (OpenID Connect Core §5.3.2). */
async function readClaims({ signed }: UserinfoSource, body: unknown): Promise<FetchedUserinfo> {
  if (isRecord(body)) return { claims: body, isSigned: false };
  if (typeof body !== "string" || !signed)
    throw new SignetError("provider_answer", "Userinfo is not a JSON object.");
  const { keys, issuer, clientId: audience, clock, isSovereign } = signed;
  const requiredClaims = ["iss", "aud", "sub", ...(isSovereign ? ["iat"] : [])];
  const checks = { keys, issuer, audience, clock, types: ["JWT", ""], requiredClaims };
  const { claims } = await verifyJwt(body, checks);
  if (isSovereign) requireUserinfoOfNow(claims, clock() / 1000);
  return { claims, isSigned: true };
}

/** An earlier answer would bring a role back that was taken away since. @throws SignetError `token_type`, `token_expired` */
function requireUserinfoOfNow(claims: Claims, now: number): void {
  if (tokenMembers.some((name) => claims[name] !== undefined))
    throw new SignetError("token_type", "The userinfo response is a token.");
  if (now > (claims.iat ?? 0) + MAX_AGE_SECONDS)
    throw new SignetError("token_expired", "The userinfo response was signed earlier.");
}

/** What a token or userinfo says about the user. */
export const withoutProtocolClaims = (claims: Userinfo): Userinfo =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !protocolClaims.has(name)));
