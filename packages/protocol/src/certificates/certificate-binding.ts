/**
 * Certificate-bound access tokens at the resource server (RFC 8705 §3). Check the binding after the token itself is verified,
 * with the certificate that the TLS handshake authenticated: `socket.getPeerX509Certificate()?.raw` where the API terminates
 * TLS itself, else the one that its proxy forwards in a header no client can set (RFC 9440).
 */
import { constantTimeEqual, sha256Base64url } from "../hash.ts";

/**
 * @param claims of a verified token. @param der the certificate that the caller presented; undefined without one
 * @returns `unbound` for a bearer token without binding; `broken`: respond with 401 `invalid_token` (RFC 8705 §3)
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
