/**
 * The resource's side of certificate-bound access tokens (RFC 8705 §3): a token with `cnf.x5t#S256` is good in the hands of
 * whoever shows the certificate of that hash, and of nobody else. To be asked after the token itself has been verified,
 * with the certificate that the TLS connection has proven the key of: `socket.getPeerX509Certificate()?.raw` where the API
 * speaks TLS itself, else what its own proxy hands on in a header that no client can write (RFC 9440).
 *
 * @example
 * const { payload } = await jwtVerify(token, keys, { issuer, audience });
 * if (certificateBinding(payload, certificate) === "broken") return refuse(401, "invalid_token");
 */
import { constantTimeEqual, sha256Base64url } from "../hash.ts";

/** SHA-256 over the certificate in DER, base64url: what stands in `x5t#S256` (RFC 8705 §3.1). */
export const certificateThumbprint = (der: Uint8Array): string => sha256Base64url(der);

/** `unbound`: a bearer token, good in anybody's hands. `broken`: answer 401 with `invalid_token` (RFC 8705 §3). */
export type CertificateBinding = "unbound" | "holds" | "broken";

/**
 * Whether the caller may use a token with these claims.
 * @param claims of a token that has been verified
 * @param der the certificate that the caller has shown; undefined without one
 */
export function certificateBinding(
  claims: { readonly cnf?: unknown },
  der: Uint8Array | undefined,
): CertificateBinding {
  if (claims.cnf === undefined) return "unbound";
  return der !== undefined && isBoundTo(claims, der) ? "holds" : "broken";
}

/** Whether the token is bound to this very certificate; a token that is bound to nothing is not. */
export function isBoundTo(claims: { readonly cnf?: unknown }, der: Uint8Array): boolean {
  const thumbprint = boundThumbprint(claims);
  return thumbprint !== undefined && constantTimeEqual(thumbprint, certificateThumbprint(der));
}

function boundThumbprint({ cnf }: { readonly cnf?: unknown }): string | undefined {
  if (typeof cnf !== "object" || cnf === null || !Object.hasOwn(cnf, "x5t#S256")) return undefined;
  const thumbprint = (cnf as Readonly<Record<string, unknown>>)["x5t#S256"];
  return typeof thumbprint === "string" ? thumbprint : undefined;
}
