/** Userinfo (OpenID Connect Core §5.3): a user's claims, which nobody has signed. */
import { SignetError } from "../errors.ts";
import type { Dpop } from "../security-profile/dpop.ts";
import { isRecord } from "../tokens/claims.ts";
import { type JwtChecks, verifyJwt } from "../tokens/verify-jwt.ts";
import type { Provider } from "./discovery.ts";
import { type Http, providerError } from "./http.ts";

export type Userinfo = Readonly<Record<string, unknown>>;

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
  readonly signed?:
    | (Pick<JwtChecks, "keys" | "issuer" | "clock"> & { readonly clientId: string })
    | undefined;
}

/**
 * @param sub of the verified token. @returns empty if the provider has no userinfo endpoint
 * @throws SignetError `token_subject` if the claims are about another user (§5.3.2), `provider_…`
 */
export async function fetchUserinfo(
  source: UserinfoSource,
  accessToken: string,
  sub: string,
): Promise<Userinfo> {
  const { provider, http, dpop, usesMtlsEndpoints } = source;
  const metadata = await provider.metadata();
  const alias = usesMtlsEndpoints ? metadata.mtls_endpoint_aliases?.["userinfo_endpoint"] : undefined;
  const url = alias ?? metadata.userinfo_endpoint;
  if (url === undefined) return {};
  const get = (headers: Readonly<Record<string, string>>) => http.json(url, { headers });
  const authorization = `${dpop ? "DPoP" : "Bearer"} ${accessToken}`;
  const response = dpop
    ? await dpop.send({ method: "GET", url, accessToken }, (proof) => get({ ...proof, authorization }))
    : await get({ authorization });
  if (response.status !== 200) throw providerError(response, "userinfo");
  const claims = await readClaims(source, response.body);
  if (claims["sub"] !== sub)
    throw new SignetError("token_subject", "Userinfo is about another user than the ID token.");
  return withoutProtocolClaims(claims);
}

/** JSON, or a JWT of the provider for this client (OpenID Connect Core §5.3.2). */
async function readClaims({ signed }: UserinfoSource, body: unknown): Promise<Record<string, unknown>> {
  if (isRecord(body)) return body;
  if (typeof body !== "string" || !signed)
    throw new SignetError("provider_answer", "Userinfo is not a JSON object.");
  const { keys, issuer, clientId: audience, clock } = signed;
  const checks = { keys, issuer, audience, clock, types: ["JWT", ""], requiredClaims: ["iss", "aud", "sub"] };
  return { ...(await verifyJwt(body, checks)).claims };
}

/** What a token or userinfo says about the user. */
export const withoutProtocolClaims = (claims: Userinfo): Userinfo =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !protocolClaims.has(name)));
