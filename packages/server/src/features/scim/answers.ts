/** Answers and errors of SCIM (RFC 7644 §3.1 and §3.12). */
import { ScimFault } from "@signet/protocol/scim/attribute";
import type { FastifyReply } from "fastify";
import { RateLimited, rateLimitHeaders } from "../../core/rate-limits/rate-limits.ts";
import { ApiError } from "../../http/api/api-error.ts";
import type { ErrorHandler, ErrorHandlerDeps } from "../../http/error-handlers.ts";
import { plainError } from "../../http/errors.ts";

export const SCIM_TYPE = "application/scim+json";
const ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error";

export interface ScimErrorBody {
  readonly schemas: readonly string[];
  /** A string, as the RFC has it. */
  readonly status: string;
  readonly scimType?: string;
  readonly detail: string;
}

export const errorBody = ({ status, scimType, message }: ScimFault): ScimErrorBody => ({
  ...{ schemas: [ERROR_SCHEMA], status: String(status) },
  ...(scimType !== undefined && { scimType }),
  detail: message,
});

/** @returns what the client is told; the rest is logged */
export function faultOf(
  deps: ErrorHandlerDeps,
  error: unknown,
  requestId: string,
): { fault: ScimFault; headers: Readonly<Record<string, string>> } {
  if (error instanceof ScimFault) return { fault: error, headers: {} };
  if (error instanceof RateLimited)
    return {
      fault: new ScimFault(429, undefined, "Too many wrong tokens from this address."),
      headers: { ...rateLimitHeaders(error), "retry-after": String(error.retryAfterSeconds) },
    };
  if (error instanceof ApiError && error.status < 500)
    return {
      fault: new ScimFault(error.status, "invalidSyntax", error.detail ?? `${error.title}.`),
      headers: {},
    };
  const { status, title, retryAfterSeconds } = plainError(error, deps.isUnavailable);
  if (status >= 500) deps.log(error, requestId, status);
  const fault = new ScimFault(status, undefined, `${title}.`);
  return {
    fault,
    headers: retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
  };
}

export function scimErrorHandler(deps: ErrorHandlerDeps): ErrorHandler {
  return async (error, request, reply) => {
    const { fault, headers } = faultOf(deps, error, request.id);
    if (fault.status < 500)
      deps.refused({ requestId: request.id, error: fault.scimType ?? String(fault.status) });
    reply.headers(headers);
    if (fault.status === 401) reply.header("www-authenticate", 'Bearer realm="scim"');
    await sendScim(reply, fault.status, errorBody(fault));
  };
}

export const sendScim = (reply: FastifyReply, status: number, body: object): FastifyReply =>
  reply
    .code(status)
    .header("cache-control", "no-store")
    .type(`${SCIM_TYPE}; charset=utf-8`)
    .send(JSON.stringify(body));
