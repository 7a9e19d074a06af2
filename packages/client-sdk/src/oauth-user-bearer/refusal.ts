/** The answer to a request that is not let in (RFC 6750 §3, RFC 9449 §7.1). */
import { SignetError } from "../errors.ts";
import { signingAlgorithms } from "../tokens/algorithms.ts";

export interface RefusalContext {
  /** Whom tokens must be made out to: tells a caller which token is meant. */
  readonly realm?: string;
  /** All that the filter asks for. */
  readonly scopes?: readonly string[];
  /** How the token came; undefined without one. */
  readonly scheme?: "bearer" | "dpop" | undefined;
  readonly acceptsDpop?: boolean;
  /** A fresh nonce for the next proof. */
  readonly nonce?: string | undefined;
}

/** Seconds after which a caller may try again when the provider is away. */
const RETRY_SECONDS = "5";

/** JSON, the header that tells how to do better, and never kept by a cache. */
export function refusalOf(error: SignetError, context: RefusalContext): Response {
  const name = oauthErrorOf(error);
  const headers = new Headers({ "cache-control": "no-store" });
  if (error.status === 503) headers.set("retry-after", RETRY_SECONDS);
  if (error.status < 500)
    for (const challenge of challengesOf(name, error, context)) headers.append("www-authenticate", challenge);
  if (context.nonce !== undefined) headers.set("dpop-nonce", context.nonce);
  const body = { error: name ?? "unauthorized", error_description: error.message };
  return Response.json(body, { status: error.status, headers });
}

/** The answer to what a handler has thrown, when it is `requirePrincipal`'s or `requireScopes`'; undefined for all else. */
export function handlerRefusal(error: unknown): Response | undefined {
  if (!(error instanceof SignetError)) return undefined;
  if (error.code !== "token_missing" && error.code !== "insufficient_scope") return undefined;
  const response = refusalOf(error, {});
  for (const [name, value] of Object.entries(error.headers ?? {})) response.headers.set(name, value);
  return response;
}

/** Undefined where no credentials came: RFC 6750 §3.1 wants no error code then. */
function oauthErrorOf({ code, status, oauthError }: SignetError): string | undefined {
  if (status >= 500) return status === 503 ? "temporarily_unavailable" : "server_error";
  if (code === "token_missing") return undefined;
  if (code === "request_malformed") return "invalid_request";
  if (code === "insufficient_scope") return "insufficient_scope";
  return code === "token_not_proven" && oauthError !== undefined ? oauthError : "invalid_token";
}

/** One for each scheme; the fault stands in the one that the caller has used. */
function challengesOf(name: string | undefined, { message, code }: SignetError, context: RefusalContext) {
  const fault = {
    error: name,
    error_description: name === undefined ? undefined : message,
    scope: code === "insufficient_scope" ? context.scopes?.join(" ") : undefined,
  };
  const isDpop = context.scheme === "dpop";
  const bearer = challenge("Bearer", { realm: context.realm, ...(isDpop ? {} : fault) });
  if (!context.acceptsDpop)
    return [isDpop ? challenge("Bearer", { realm: context.realm, ...fault }) : bearer];
  return [bearer, challenge("DPoP", { ...(isDpop ? fault : {}), algs: signingAlgorithms.join(" ") })];
}

/** What a `WWW-Authenticate` field holds (RFC 9110 §11.6.1). */
export function challenge(scheme: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const quoted = Object.entries(parameters)
    .filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "")
    .map(([name, value]) => `${name}="${printable(value)}"`);
  return `${scheme} ${quoted.join(", ")}`.trim();
}

/** RFC 6750 §3: what may stand in the quotes; anything else could end them. */
const printable = (text: string): string => text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?");
