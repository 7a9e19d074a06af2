/** Errors without a form of their own: not found, malformed, too many, unavailable. */

/** Records that don't exist, are disabled or belong to another organisation look the same from outside. */
export class NotFound extends Error {
  constructor(what: string) {
    super(`there is no such ${what}`);
    this.name = "NotFound";
  }
}

/** A handler's error in terms of HTTP, whatever surface renders it. */
export interface PlainError {
  readonly status: number;
  /** Stable; the last part of `urn:signet:error:<code>`. */
  readonly code: string;
  /** Public; never an internal message. */
  readonly title: string;
  readonly retryAfterSeconds?: number;
}

/** Whether the database is unreachable or overloaded, as opposed to a faulty statement, or a queue is full. */
export type IsUnavailable = (error: unknown) => boolean;

const byStatus: Readonly<Record<number, PlainError>> = {
  400: { status: 400, code: "malformed", title: "The request is malformed" },
  404: { status: 404, code: "not-found", title: "Not found" },
  405: { status: 405, code: "method-not-allowed", title: "Method not allowed" },
  408: { status: 408, code: "timeout", title: "The request timed out" },
  413: { status: 413, code: "too-large", title: "The request body is too large" },
  414: { status: 414, code: "uri-too-long", title: "The URL is too long" },
  415: { status: 415, code: "unsupported-media-type", title: "Unsupported content type" },
  429: { status: 429, code: "rate-limited", title: "Too many requests" },
  431: { status: 431, code: "headers-too-large", title: "The request headers are too large" },
};

export const internalError: PlainError = {
  status: 500,
  code: "internal",
  title: "Internal server error",
};

export function plainError(error: unknown, isUnavailable: IsUnavailable): PlainError {
  if (error instanceof NotFound) return byStatus[404] ?? internalError;
  // Fastify's own errors carry their status (body too large, wrong content type …). First of all: a client that hangs up amid its
  // body says ECONNRESET, as a database does.
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) {
    const found = byStatus[status] ?? { ...(byStatus[400] ?? internalError), status };
    const { retryAfterSeconds } = error as { readonly retryAfterSeconds?: number };
    return retryAfterSeconds === undefined ? found : { ...found, retryAfterSeconds };
  }
  if (isUnavailable(error)) {
    return {
      status: 503,
      code: "unavailable",
      title: "The service is temporarily unavailable",
      retryAfterSeconds: 2,
    };
  }
  return internalError;
}
