import { type OAuthErrorCode, printableDescription } from "./oauth-error.ts";

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1); undefined when there is none or it is no b64token. */
export function parseBearer(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  return /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header)?.[1];
}

/**
 * The `WWW-Authenticate` value of a rejected bearer request (RFC 6750 §3). Without credentials there is no error code, only the
 * realm (§3.1).
 */
export function bearerChallenge(
  realm: string,
  error?: OAuthErrorCode,
  description?: string,
  scope?: string,
): string {
  const parameters = { realm, error, error_description: description, scope };
  const quoted = Object.entries(parameters)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, value]) => `${name}="${printableDescription(value)}"`);
  return `Bearer ${quoted.join(", ")}`;
}
