/** The token of a request: from the Authorization header and nowhere else (RFC 6750 §2.1, RFC 9449 §7.1). */
import { SignetError } from "../errors.ts";

export interface BearerCredentials {
  /** `dpop`: the token comes with the proof of a key. */
  readonly scheme: "bearer" | "dpop";
  readonly token: string;
}

/** RFC 6750 §2.1 `b64token`, RFC 9110 §11.2: one scheme, in any case, and one token. */
const wellFormed = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * A token in the query or in a form is not looked for: addresses end up in logs and histories (RFC 6750 §2.3, RFC 9700 §4.3.2).
 *
 * @returns undefined without an Authorization header: a request without credentials
 * @throws SignetError `request_malformed` when the header is of these schemes and wrong, `token_missing` for another scheme
 */
export function credentialsOf(request: Request): BearerCredentials | undefined {
  const header = request.headers.get("authorization");
  if (header === null) return undefined;
  const [, scheme, token] = wellFormed.exec(header) ?? [];
  if (scheme !== undefined && token !== undefined)
    return { scheme: scheme.toLowerCase() === "dpop" ? "dpop" : "bearer", token };
  // Two headers come as one with a comma, which no token has.
  if (/^(?:bearer|dpop)\b/i.test(header))
    throw new SignetError("request_malformed", "The Authorization header is malformed.");
  throw new SignetError("token_missing", "The request has no access token.");
}
