/** Unsuccessful responses of the service's APIs (RFC 9457), as typed errors. */
import { type Problem, SignetError } from "../errors.ts";
import type { HttpAnswer } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";

const TYPE_PREFIX = "urn:signet:error:";

/** Undefined if the body is no problem document of the service. */
function parseProblem({ status, body }: HttpAnswer): Problem | undefined {
  if (!isRecord(body)) return undefined;
  const { type, title, detail, instance, errors } = body;
  if (typeof type !== "string" || !type.startsWith(TYPE_PREFIX) || typeof title !== "string")
    return undefined;
  return {
    code: type.slice(TYPE_PREFIX.length),
    status,
    title,
    detail: typeof detail === "string" ? detail : undefined,
    instance: typeof instance === "string" ? instance : undefined,
    errors: Array.isArray(errors) ? errors.flatMap(parseMemberError) : [],
  };
}

function parseMemberError(value: unknown): { path: string; message: string }[] {
  if (!isRecord(value)) return [];
  const { path, message } = value;
  return typeof path === "string" && typeof message === "string" ? [{ path, message }] : [];
}

/** `provider_unreachable`, `provider_refused` with the `problem`, or `provider_answer` if it is none of the service's. */
export function serviceError(response: HttpAnswer): SignetError {
  const { status } = response;
  const problem = parseProblem(response);
  const details = problem ? { problem } : {};
  if (status >= 500 || status === 429)
    return new SignetError("provider_unreachable", `The service is unavailable (${status}).`, details);
  if (!problem)
    return new SignetError("provider_answer", `Unexpected response from the service (${status}).`);
  const { title, detail, errors } = problem;
  const members = errors.map(({ path, message }) => `${path || "body"} ${message}`).join(", ");
  const reasons = [detail, members].filter((text) => text).join(" ");
  return new SignetError("provider_refused", `${title}.${reasons ? ` ${reasons}` : ""}`, { problem });
}
