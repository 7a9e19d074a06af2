/** The errors that have no document of their own: what is not there, what cannot be read, what has to wait. */

/** Anything of another organisation, a disabled or an unknown record: to the outside they are one. */
export class NotFound extends Error {
  constructor(what: string) {
    super(`there is no such ${what}`);
    this.name = "NotFound";
  }
}

/** What a handler's error means in HTTP, whatever surface says it. */
export interface PlainError {
  readonly status: number;
  /** Stable; the last part of `urn:signet:error:<code>`. */
  readonly code: string;
  /** Public; never an internal message. */
  readonly title: string;
  readonly retryAfterSeconds?: number;
}

/** Tells whether an error means that the database is away or overloaded, and not that a statement is wrong. */
export type IsUnavailable = (error: unknown) => boolean;

const byStatus: Readonly<Record<number, PlainError>> = {
  400: { status: 400, code: "malformed", title: "The request could not be read" },
  404: { status: 404, code: "not-found", title: "There is nothing here" },
  405: { status: 405, code: "method-not-allowed", title: "The method is not allowed here" },
  408: { status: 408, code: "timeout", title: "The request took too long to arrive" },
  413: { status: 413, code: "too-large", title: "The request body is too large" },
  414: { status: 414, code: "uri-too-long", title: "The address is too long" },
  415: { status: 415, code: "unsupported-media-type", title: "The content type is not supported here" },
  431: { status: 431, code: "headers-too-large", title: "The request headers are too large" },
};

export const internalError: PlainError = {
  status: 500,
  code: "internal",
  title: "Something went wrong on our side",
};

export function plainError(error: unknown, isUnavailable: IsUnavailable): PlainError {
  if (error instanceof NotFound) return byStatus[404] ?? internalError;
  if (isUnavailable(error)) {
    return {
      status: 503,
      code: "unavailable",
      title: "The service is busy, try again shortly",
      retryAfterSeconds: 2,
    };
  }
  // Fastify's own errors carry the status that the protocol asks for (body too large, wrong content type …).
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  return (
    byStatus[status] ??
    (status >= 400 && status < 500 ? { ...(byStatus[400] ?? internalError), status } : internalError)
  );
}
