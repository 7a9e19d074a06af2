/** Scope checks, and the response to a rejected API request (RFC 6749 §3.3, RFC 6750 §3, RFC 9449 §7.1). */
import { named } from "../configuration/properties.ts";
import { SignetError, type SignetErrorCode } from "../errors.ts";
import type { Principal } from "../principal.ts";
import { clientAlgorithms } from "../tokens/algorithms.ts";
import { withoutUndefined } from "../tokens/claims.ts";

export interface ChallengeContext {
  /** The audience tokens must be issued for: tells a caller which token is needed. */
  readonly realm?: string | undefined;
  /** All required scopes. */
  readonly scopes?: readonly string[];
  /** Of the presented token; undefined without one. */
  readonly scheme?: "bearer" | "dpop" | undefined;
  readonly acceptsDpop?: boolean;
  /** A fresh nonce for the next proof. */
  readonly nonce?: string | undefined;
  /** The URL of the resource's metadata (RFC 9728 §5.1). */
  readonly resourceMetadata?: string | undefined;
  /** What the user's sign-in must be like (RFC 9470 §3). */
  readonly authentication?: Readonly<Record<string, string | undefined>>;
}

/** When to retry after an outage of the provider. */
const RETRY_SECONDS = "5";

export function unauthorizedResponse(error: SignetError, context: ChallengeContext): Response {
  const name = oauthErrorOf(error);
  const headers = new Headers({ "cache-control": "no-store" });
  if (error.status === 503) headers.set("retry-after", RETRY_SECONDS);
  if (error.status < 500)
    for (const value of challenges(name, error, context)) headers.append("www-authenticate", value);
  if (context.nonce !== undefined) headers.set("dpop-nonce", context.nonce);
  headers.set("content-type", PROBLEM_TYPE);
  return new Response(JSON.stringify(problemOf(error, name)), { status: error.status, headers });
}

export const PROBLEM_TYPE = "application/problem+json";

/** One body on every framework: a problem (RFC 9457) with the members that OAuth clients read (RFC 6749 §5.2). */
function problemOf({ code, status, description }: SignetError, oauthError: string | undefined) {
  return {
    type: `urn:signet:error:${code.replaceAll("_", "-")}`,
    title: titles.get(status) ?? "Service unavailable",
    status,
    detail: description,
    error: oauthError ?? "unauthorized",
    error_description: description,
  };
}

const titles: ReadonlyMap<number, string> = new Map([
  [400, "Bad request"],
  [401, "Not authenticated"],
  [403, "Forbidden"],
]);

const codesOfHandlers: readonly SignetErrorCode[] = [
  "token_missing",
  "insufficient_scope",
  "insufficient_user_authentication",
];

/** The response to an error of `requirePrincipal`, `requireScopes` or `requireAuthentication` in a handler; undefined for any other error. */
export function handlerErrorResponse(error: unknown): Response | undefined {
  if (!(error instanceof SignetError)) return undefined;
  if (!codesOfHandlers.includes(error.code)) return undefined;
  const response = unauthorizedResponse(error, {});
  for (const [name, value] of Object.entries(error.headers ?? {})) response.headers.set(name, value);
  return response;
}

/** Undefined without credentials: RFC 6750 §3.1 wants no error code then. */
function oauthErrorOf({ code, status, oauthError }: SignetError): string | undefined {
  if (status >= 500) return status === 503 ? "temporarily_unavailable" : "server_error";
  if (code === "token_missing") return undefined;
  if (code === "request_malformed") return "invalid_request";
  if (code === "insufficient_scope" || code === "insufficient_user_authentication") return code;
  return code === "token_not_proven" && oauthError !== undefined ? oauthError : "invalid_token";
}

/** One per scheme; the error is in the one the caller used. */
function challenges(name: string | undefined, { description, code }: SignetError, context: ChallengeContext) {
  const error = {
    error: name,
    error_description: name === undefined ? undefined : description,
    scope: code === "insufficient_scope" ? context.scopes?.join(" ") : undefined,
    ...(code === "insufficient_user_authentication" ? context.authentication : {}),
  };
  const { realm, resourceMetadata } = context;
  // A client that begins with the metadata asks for what is needed, not for all that there is (RFC 6750 §3).
  const first = name === undefined && resourceMetadata !== undefined ? context.scopes?.join(" ") : undefined;
  const metadata = { resource_metadata: resourceMetadata, ...(first === undefined ? {} : { scope: first }) };
  const isDpop = context.scheme === "dpop";
  if (!context.acceptsDpop) return [challenge("Bearer", { realm, ...error, ...metadata })];
  return [
    challenge("Bearer", { realm, ...(isDpop ? {} : error), ...metadata }),
    challenge("DPoP", { ...(isDpop ? error : {}), algs: clientAlgorithms.join(" "), ...metadata }),
  ];
}

/** A `WWW-Authenticate` value (RFC 9110 §11.6.1). */
export function challenge(scheme: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const quoted = Object.entries(withoutUndefined(parameters))
    .filter(([, value]) => value !== "")
    // RFC 6750 §3: any other character could end the quotes.
    .map(([name, value]) => `${name}="${value.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?")}"`);
  return `${scheme} ${quoted.join(", ")}`.trim();
}

/**
 * For handlers that need more scopes than the filter requires of every request. Every adapter turns the error into the same 403
 * response, unless the application's own error handler does: a problem document and a challenge (RFC 9457, RFC 6750 §3).
 * @param scopes all of them are required
 * @throws SignetError `insufficient_scope`, status 403
 * @example
 * app.delete("/jobs/:id", (request, response) => {
 *   requireScopes(requirePrincipal(request), "jobs:write");
 *   response.sendStatus(204);
 * });
 */
export function requireScopes(principal: Pick<Principal, "scopes">, ...scopes: readonly string[]): void {
  const missing = scopes.filter((scope) => !principal.scopes.has(scope));
  if (missing.length === 0) return;
  const required = challenge("Bearer", { error: "insufficient_scope", scope: scopes.join(" ") });
  const description = `The token lacks the scope ${missing.join(" ")}.`;
  const advice = `The application that calls requests it, e.g. by ${named("oauthScopes")}, and must be allowed to.`;
  throw new SignetError("insufficient_scope", `${description} ${advice}`, {
    description,
    headers: { "www-authenticate": required },
  });
}
