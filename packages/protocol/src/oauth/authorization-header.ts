/** Basic, Bearer and DPoP credentials (RFC 7617, RFC 6750 §2.1, RFC 9449 §7.1). */
import { decodeFormComponent } from "../form.ts";
import { type OAuthErrorCode, printableDescription } from "./oauth-error.ts";

const visible = /^[\x20-\x7e]*$/;

/**
 * Client credentials in `Authorization: Basic`: id and secret are form-urlencoded inside the base64 (RFC 6749 §2.3.1).
 * Undefined for another scheme, malformed base64, UTF-8 or escapes, and characters no client id or secret has (RFC 6749
 * Appendix A.1, A.2).
 */
export function parseBasicCredentials(
  header: string,
): { clientId: string; clientSecret: string } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  // Node's decoder takes much that is not base64: only what encodes to the same text again was.
  if (bytes.toString("base64") !== encoded) return undefined;

  const pair = bytes.toString("utf8"); // bytes that are not UTF-8 become U+FFFD, which is not visible ASCII
  const colon = pair.indexOf(":");
  if (colon === -1) return undefined;
  const clientId = decodeFormComponent(pair.slice(0, colon));
  const clientSecret = decodeFormComponent(pair.slice(colon + 1));
  if (!clientId || clientSecret === undefined) return undefined;
  return visible.test(clientId) && visible.test(clientSecret) ? { clientId, clientSecret } : undefined;
}

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1); undefined when there is none or it is no b64token. */
export function parseBearer(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  return /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header)?.[1];
}

/** The token of an `Authorization: DPoP` header (RFC 9449 §7.1); undefined when there is none or it is no token68. */
export function parseDpopToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  return /^dpop +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header)?.[1];
}

/** The `WWW-Authenticate` value of a rejected request with a DPoP-bound token (RFC 9449 §7.1). */
export function dpopChallenge(
  realm: string,
  error: OAuthErrorCode,
  description: string,
  more: { readonly algs: readonly string[]; readonly scope?: string | undefined },
): string {
  return challenge("DPoP", {
    ...{ realm, error, error_description: description },
    ...{ scope: more.scope, algs: more.algs.join(" ") },
  });
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
  return challenge("Bearer", { realm, error, error_description: description, scope });
}

function challenge(scheme: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const quoted = Object.entries(parameters)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, value]) => `${name}="${printableDescription(value)}"`);
  return `${scheme} ${quoted.join(", ")}`;
}
