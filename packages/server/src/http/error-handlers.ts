/** One error handler per surface: OAuth JSON, browser page, problem+json. None reveals an internal message. */
import { OAuthError, oauthErrorBody } from "@signet/protocol/oauth/oauth-error";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { ApiError, type MemberFault, malformed } from "./api/api-error.ts";
import type { Answer } from "./calls/call.ts";
import { sendAnswer } from "./calls/call-route.ts";
import { type IsUnavailable, type PlainError, plainError } from "./errors.ts";

export type ErrorHandler = (
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<void>;

export interface Refusal {
  readonly requestId: string;
  /** The error's public code, e.g. `invalid_client`. */
  readonly error: string;
  /** The private cause: one of our own sentences, never a value from the request. */
  readonly cause?: string;
}

export interface ErrorHandlerDeps {
  readonly isUnavailable: IsUnavailable;
  /** Logs an unexpected error, which the response must not reveal. @param status 503: busy, or the database is away */
  log(error: unknown, requestId: string, status: number): void;
  /** Logs why a request was rejected. */
  refused(refusal: Refusal): void;
}

export const oauthErrorHandler =
  (deps: ErrorHandlerDeps): ErrorHandler =>
  async (error, request, reply) =>
    void sendAnswer(reply, oauthErrorAnswer(deps, error, request.id));

/** RFC 6749 §5.2. Other errors get the closest code that the RFC has. */
export function oauthErrorAnswer(deps: ErrorHandlerDeps, error: unknown, requestId: string): Answer {
  if (error instanceof OAuthError) {
    logOAuthError(deps, error, requestId);
    return answerOfOAuthError(error);
  }
  const plain = toPlainError(deps, error, requestId);
  if (plain.status === 404) return problemAnswer(plain, requestId);
  const code =
    plain.status === 503
      ? "temporarily_unavailable"
      : plain.status >= 500
        ? "server_error"
        : "invalid_request";
  const { status, title, retryAfterSeconds } = plain;
  const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return answerOfOAuthError(new OAuthError(code, title, { status, ...more }));
}

const answerOfOAuthError = (error: OAuthError): Answer => ({
  status: error.status,
  headers: [
    ...Object.entries(error.headers ?? {}).flat(),
    ...["cache-control", "no-store", "content-type", "application/json; charset=utf-8"],
  ],
  body: JSON.stringify(oauthErrorBody(error)),
});

/** RFC 9457. */
export function problemErrorHandler(deps: ErrorHandlerDeps): ErrorHandler {
  return async (error, request, reply) => {
    const { status, headers, body } = problemErrorAnswer(deps, error, request.id);
    for (let at = 0; at < headers.length; at += 2) reply.header(headers[at] ?? "", headers[at + 1]);
    await reply.code(status).send(body);
  };
}

/** The same past the framework, which adds the character set. */
export function problemErrorAnswer(deps: ErrorHandlerDeps, error: unknown, requestId: string): Answer {
  // The shared query parser throws OAuth errors: here they become problem documents.
  if (error instanceof OAuthError) return apiProblem(malformed(`${error.description}.`), requestId);
  if (!(error instanceof ApiError)) return apiProblem(toPlainError(deps, error, requestId), requestId);
  if (error.status >= 500) deps.log(error.cause ?? error, requestId, error.status);
  else {
    const cause = typeof error.cause === "string" ? { cause: error.cause } : {};
    deps.refused({ requestId, error: error.code, ...cause });
  }
  return apiProblem(error, requestId, error.headers);
}

export type RenderErrorPage = (
  request: FastifyRequest,
  reply: FastifyReply,
  shown: { status: number; message?: string; reason?: string | undefined; code?: string },
) => Promise<void>;

/** For every page: an error page with the request's id, never a redirect. */
export function pageErrorHandler(deps: ErrorHandlerDeps, render: RenderErrorPage): ErrorHandler {
  return async (error, request, reply) => {
    if (error instanceof OAuthError) {
      logOAuthError(deps, error, request.id);
      // When to come again, and which limit it was.
      if (error.status === 429 || error.status === 503) reply.headers(error.headers ?? {});
      return render(request, reply, {
        status: error.status,
        message: error.description,
        reason: error.reason,
        code: error.code,
      });
    }
    const plain = toPlainError(deps, error, request.id);
    if (plain.retryAfterSeconds !== undefined) reply.header("retry-after", String(plain.retryAfterSeconds));
    return render(request, reply, { status: plain.status });
  };
}

/** A page for a browser, e.g. one that reloads the address of a form; problem+json for a program. */
export function notFoundHandler(
  render: RenderErrorPage,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const notFound = { status: 404, code: "not-found", title: "Not found" };
  return async (request, reply) => {
    const wantsPage = request.method === "GET" && request.headers.accept?.includes("text/html");
    if (wantsPage) await render(request, reply, { status: 404 });
    else await sendProblem(reply, notFound, request.id);
  };
}

function logOAuthError(deps: ErrorHandlerDeps, error: OAuthError, requestId: string): void {
  if (error.status >= 500) {
    deps.log(error.cause ?? error, requestId, error.status);
    return;
  }
  const cause = typeof error.cause === "string" ? { cause: error.cause } : {};
  deps.refused({ requestId, error: error.code, ...cause });
}

function toPlainError(deps: ErrorHandlerDeps, error: unknown, requestId: string): PlainError {
  const plain = plainError(error, deps.isUnavailable);
  if (plain.status >= 500) deps.log(error, requestId, plain.status);
  return plain;
}

type Problem = PlainError & { readonly detail?: string; readonly errors?: readonly MemberFault[] };

const problemText = ({ status, code, title, detail, errors }: Problem, requestId: string): string =>
  JSON.stringify({
    type: `urn:signet:error:${code}`,
    title,
    status,
    ...(detail === undefined ? {} : { detail }),
    instance: requestId,
    ...(errors === undefined ? {} : { errors }),
  });

const problemAnswer = (problem: Problem, requestId: string): Answer => ({
  status: problem.status,
  headers: ["cache-control", "no-store", "content-type", "application/problem+json"],
  body: problemText(problem, requestId),
});

const apiProblem = (
  problem: Problem,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({
  status: problem.status,
  headers: [
    ...Object.entries(headers).flat(),
    ...(problem.retryAfterSeconds === undefined ? [] : ["retry-after", String(problem.retryAfterSeconds)]),
    ...["cache-control", "no-store", "content-type", "application/problem+json; charset=utf-8"],
  ],
  body: problemText(problem, requestId),
});

export async function sendProblem(reply: FastifyReply, plain: Problem, requestId: string): Promise<void> {
  if (plain.retryAfterSeconds !== undefined) reply.header("retry-after", String(plain.retryAfterSeconds));
  await reply
    .code(plain.status)
    .header("cache-control", "no-store")
    .type("application/problem+json")
    .send(problemText(plain, requestId));
}
