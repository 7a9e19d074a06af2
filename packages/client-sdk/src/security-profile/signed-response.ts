/** Authorization responses as JWTs (JARM §2.4): nobody between the provider and us can change or swap them. */
import { SignetError } from "../errors.ts";
import { profileAlgorithms } from "../tokens/algorithms.ts";
import { type JwtChecks, verifyJwt } from "../tokens/verify-jwt.ts";

interface ResponseChecks extends Pick<JwtChecks, "keys" | "issuer" | "clock"> {
  readonly clientId: string;
}

/**
 * The parameters of a response whose one parameter is `response`.
 * @throws SignetError `token_…` for a JWT that is not the provider's response to us; `provider_answer` for an unsigned response
 */
export async function openSignedResponse(
  response: string | undefined,
  { keys, issuer, clientId, clock }: ResponseChecks,
): Promise<(name: string) => string | undefined> {
  if (response === undefined)
    throw new SignetError("provider_answer", "The provider's response is not signed.");
  const { header, claims } = await verifyJwt(response, {
    ...{ keys, issuer, clock, audience: clientId },
    // An access token or a logout token of the same keys is none.
    types: ["JWT", ""],
    requiredClaims: ["iss", "aud", "exp"],
  });
  requireProfileAlgorithm(header.alg);
  // An ID token has the same issuer, audience and type, but a subject.
  if (claims.sub !== undefined) throw new SignetError("token_type", "The response is another type of token.");
  return (name) => {
    const value = claims[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
}

/** FAPI 2.0 SP §5.4.1. @throws SignetError `token_algorithm` */
export function requireProfileAlgorithm(alg: string): void {
  if (!profileAlgorithms.includes(alg))
    throw new SignetError("token_algorithm", "The signature algorithm is not one of the security profile.");
}
