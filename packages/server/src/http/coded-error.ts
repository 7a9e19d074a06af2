/** Refusals of endpoints of our own in OAuth's form: `{error, error_description}` and no-store (sovereign-signing.md §5, device-identity.md §1). */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { ApiError } from "./api/api-error.ts";
import { type ErrorHandler, type ErrorHandlerDeps, oauthErrorHandler } from "./error-handlers.ts";
import { NotFound } from "./errors.ts";

export interface CodedErrorOptions {
  /** Members beside the two, e.g. `reason`. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** What really happened: for the log, never for the answer. */
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

export const nothingHere = () => new CodedError(404, "not_found", "there is nothing here");

export function codedErrorHandler(deps: ErrorHandlerDeps): ErrorHandler {
  const others = oauthErrorHandler(deps);
  return async (error, request, reply) => {
    const told = error instanceof CodedError ? error : codedForm(error);
    // Whatever else it is, an OAuth error or one of our own, it has that form already.
    if (!told) return others(error, request, reply);
    const cause = typeof told.cause === "string" ? { cause: told.cause } : {};
    deps.refused({ requestId: request.id, error: told.code, ...cause });
    const body = { error: told.code, error_description: told.message, ...told.more };
    await reply
      .headers({ ...told.headers, "cache-control": "no-store" })
      .code(told.status)
      .type("application/json; charset=utf-8")
      .send(JSON.stringify(body));
  };
}

/** What the JSON interfaces share is refused in problem documents elsewhere. */
function codedForm(error: unknown): CodedError | undefined {
  if (error instanceof NotFound) return nothingHere();
  if (!(error instanceof ApiError) || error.status >= 500) return undefined;
  const { status, detail, title, errors = [], headers } = error;
  const options = {
    ...(headers ? { headers } : {}),
    ...(typeof error.cause === "string" ? { cause: error.cause } : {}),
  };
  if (status === 404) return nothingHere();
  if (status === 401) return new CodedError(401, "invalid_client", title, options);
  if (status === 409) return new CodedError(409, "conflict", detail ?? title, options);
  const members = errors.map(({ path, message }) => `${path || "the body"} ${message}`).join("; ");
  const description = new OAuthError("invalid_request", members || (detail ?? title)).description;
  return new CodedError(400, "invalid_request", description, options);
}
