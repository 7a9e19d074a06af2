/**
 * Errors of Signet's own endpoints in OAuth's form: `{error, error_description}`, no-store (sovereign-signing.md §5,
 * device-identity.md §1).
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { ApiError } from "./api/api-error.ts";
import { type ErrorHandler, type ErrorHandlerDeps, oauthErrorHandler } from "./error-handlers.ts";
import { NotFound } from "./errors.ts";

export interface CodedErrorOptions {
  /** Further members, e.g. `reason`. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The private cause, for the log only. */
  readonly cause?: string;
}

export class CodedError extends Error {
  readonly status: number;
  readonly code: string;
  readonly more: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, description: string, options: CodedErrorOptions = {}) {
    super(description, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CodedError";
    this.status = status;
    this.code = code;
    this.more = options.more ?? {};
    this.headers = options.headers ?? {};
  }
}

export const codedNotFound = () => new CodedError(404, "not_found", "not found");

export function codedErrorHandler(deps: ErrorHandlerDeps): ErrorHandler {
  const handleOther = oauthErrorHandler(deps);
  return async (error, request, reply) => {
    const coded = error instanceof CodedError ? error : toCodedError(error);
    // Every other error already has OAuth's form.
    if (!coded) return handleOther(error, request, reply);
    const cause = typeof coded.cause === "string" ? { cause: coded.cause } : {};
    deps.refused({ requestId: request.id, error: coded.code, ...cause });
    const body = { error: coded.code, error_description: coded.message, ...coded.more };
    await reply
      .headers({ ...coded.headers, "cache-control": "no-store" })
      .code(coded.status)
      .type("application/json; charset=utf-8")
      .send(JSON.stringify(body));
  };
}

/** Errors of the code shared with the JSON APIs, which send problem documents. */
function toCodedError(error: unknown): CodedError | undefined {
  if (error instanceof NotFound) return codedNotFound();
  if (!(error instanceof ApiError) || error.status >= 500) return undefined;
  const { status, detail, title, errors = [], headers } = error;
  const options = {
    ...(headers ? { headers } : {}),
    ...(typeof error.cause === "string" ? { cause: error.cause } : {}),
  };
  if (status === 404) return codedNotFound();
  if (status === 401) return new CodedError(401, "invalid_client", title, options);
  if (status === 409) return new CodedError(409, "conflict", detail ?? title, options);
  const members = errors.map(({ path, message }) => `${path || "the body"} ${message}`).join("; ");
  const description = new OAuthError("invalid_request", members || (detail ?? title)).description;
  return new CodedError(400, "invalid_request", description, options);
}
