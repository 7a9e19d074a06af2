/** The access token of a request: from the Authorization header and nowhere else (RFC 6750 §2.1, RFC 9449 §7.1). */
import { SignetError } from "../errors.ts";

export interface PresentedToken {
  /** `dpop`: comes with a proof of possession. */
  readonly scheme: "bearer" | "dpop";
  readonly token: string;
}

/** RFC 6750 §2.1 `b64token`, RFC 9110 §11.2: one case-insensitive scheme, and one token. */
const wellFormed = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Tokens in queries and forms are ignored: URLs end up in logs and histories (RFC 6750 §2.3, RFC 9700 §4.3.2).
 *
 * @returns undefined without an Authorization header
 * @throws SignetError `request_malformed` for a malformed header of these schemes, `token_missing` for another scheme
 */
export function readBearerToken(request: Request): PresentedToken | undefined {
  const header = request.headers.get("authorization");
  if (header === null) return undefined;
  const [, scheme, token] = wellFormed.exec(header) ?? [];
  if (scheme !== undefined && token !== undefined)
    return { scheme: scheme.toLowerCase() === "dpop" ? "dpop" : "bearer", token };
  // Includes repeated headers, which are joined with a comma.
  if (/^(?:bearer|dpop)\b/i.test(header))
    throw new SignetError("request_malformed", "The Authorization header is malformed.");
  throw new SignetError("token_missing", "The request has no access token.");
}
