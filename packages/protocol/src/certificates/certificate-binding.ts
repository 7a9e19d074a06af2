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

/**
 * Whether the caller may use a token with these claims. `unbound`: a bearer token without binding. `broken`: respond with 401
 * `invalid_token` (RFC 8705 §3).
 * @param claims of a token that has been verified
 * @param der the certificate that the caller has shown; undefined without one
 */
export function certificateBinding(
  { cnf }: { readonly cnf?: unknown },
  der: Uint8Array | undefined,
): "unbound" | "holds" | "broken" {
  if (cnf === undefined) return "unbound";
  if (typeof cnf !== "object" || cnf === null || !Object.hasOwn(cnf, "x5t#S256")) return "broken";
  const thumbprint: unknown = (cnf as Readonly<Record<string, unknown>>)["x5t#S256"];
  const isSame =
    typeof thumbprint === "string" &&
    der !== undefined &&
    constantTimeEqual(thumbprint, sha256Base64url(der));
  return isSame ? "holds" : "broken";
}
