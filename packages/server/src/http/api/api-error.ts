/** Errors of the JSON APIs: RFC 9457 problem documents with a stable code (wire-contract.md §1). */
import { HMAC_CHALLENGE } from "../challenge.ts";

export interface MemberFault {
  /** JSON Pointer (RFC 6901) into the body, or `?name` for a parameter of the query. */
  readonly path: string;
  readonly message: string;
}

export interface ApiErrorOptions {
  /** One public sentence on how to fix it. */
  readonly detail?: string;
  readonly errors?: readonly MemberFault[];
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The private cause, for the log only. */
  readonly cause?: unknown;
}

export class ApiError extends Error {
  readonly status: number;
  /** The last part of `urn:signet:error:<code>`. */
  readonly code: string;
  /** Public, the same for every occurrence of the code. */
  readonly title: string;
  readonly detail?: string;
  readonly errors?: readonly MemberFault[];
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;

  constructor(status: number, code: string, title: string, options: ApiErrorOptions = {}) {
    super(title, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.title = title;
    if (options.detail !== undefined) this.detail = options.detail;
    if (options.errors !== undefined) this.errors = options.errors;
    if (options.retryAfterSeconds !== undefined) this.retryAfterSeconds = options.retryAfterSeconds;
    const challenge = status === 401 ? HMAC_CHALLENGE : undefined;
    if (challenge ?? options.headers) this.headers = { ...challenge, ...options.headers };
  }
}

/** One response for a wrong key, a wrong signature, a disabled account and a missing permission. */
export const notAuthenticated = (cause: string, headers: Readonly<Record<string, string>> = {}) =>
  new ApiError(401, "not-authenticated", "The request is not authenticated", { cause, headers });

export const malformed = (detail: string) =>
  new ApiError(400, "malformed", "The request is malformed", { detail });

export const invalid = (errors: readonly MemberFault[]) =>
  new ApiError(422, "invalid", "The request is invalid", { errors });

export const conflict = (detail: string) =>
  new ApiError(409, "conflict", "The record conflicts with an existing one", { detail });

export const notFound = () => new ApiError(404, "not-found", "Not found");
