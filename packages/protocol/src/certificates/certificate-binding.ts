/**
 * Certificate-bound access tokens at the resource server (RFC 8705 §3): a token with `cnf.x5t#S256` is valid only with the
 * certificate of that hash. Check the binding after the token itself is verified,
 * with the certificate that the TLS handshake authenticated: `socket.getPeerX509Certificate()?.raw` where the API
 * terminates TLS itself, else the certificate that its proxy forwards in a header that no client can set (RFC 9440).
 *
 * @example
 * const { payload } = await jwtVerify(token, keys, { issuer, audience });
 * if (certificateBinding(payload, certificate) === "broken") return refuse(401, "invalid_token");
 */
import { constantTimeEqual, sha256Base64url } from "../hash.ts";

/** The `x5t#S256` thumbprint: base64url SHA-256 of the DER certificate (RFC 8705 §3.1). */
export const certificateThumbprint = (der: Uint8Array): string => sha256Base64url(der);

/** `unbound`: a bearer token without binding. `broken`: respond with 401 `invalid_token` (RFC 8705 §3). */
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

/** Whether the token is bound to this certificate; false for an unbound token. */
export function isBoundTo(claims: { readonly cnf?: unknown }, der: Uint8Array): boolean {
  const thumbprint = boundThumbprint(claims);
  return thumbprint !== undefined && constantTimeEqual(thumbprint, certificateThumbprint(der));
}

function boundThumbprint({ cnf }: { readonly cnf?: unknown }): string | undefined {
  if (typeof cnf !== "object" || cnf === null || !Object.hasOwn(cnf, "x5t#S256")) return undefined;
  const thumbprint = (cnf as Readonly<Record<string, unknown>>)["x5t#S256"];
  return typeof thumbprint === "string" ? thumbprint : undefined;
}
