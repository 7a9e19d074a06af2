/** Answers of the service's APIs that are refusals (RFC 9457), as typed errors. */
import { type Problem, SignetError } from "../errors.ts";
import type { HttpAnswer } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";

const NAME = "urn:signet:error:";

/** @returns undefined for a body that is no problem document of the service */
function problemOf({ status, body }: HttpAnswer): Problem | undefined {
  if (!isRecord(body)) return undefined;
  const { type, title, detail, instance, errors } = body;
  if (typeof type !== "string" || !type.startsWith(NAME) || typeof title !== "string") return undefined;
  return {
    code: type.slice(NAME.length),
    status,
    title,
    detail: typeof detail === "string" ? detail : undefined,
    instance: typeof instance === "string" ? instance : undefined,
    errors: Array.isArray(errors) ? errors.flatMap(faultOf) : [],
  };
}

function faultOf(value: unknown): { path: string; message: string }[] {
  if (!isRecord(value)) return [];
  const { path, message } = value;
  return typeof path === "string" && typeof message === "string" ? [{ path, message }] : [];
}

/**
 * What an answer other than 2xx means: `provider_unreachable` when the service cannot or will not answer now,
 * `provider_refused` with the `problem` when it says no, `provider_answer` for what it would never say.
 */
export function serviceFault(answer: HttpAnswer): SignetError {
  const { status } = answer;
  const problem = problemOf(answer);
  const details = problem ? { problem } : {};
  if (status >= 500 || status === 429)
    return new SignetError("provider_unreachable", `The service cannot answer now (${status}).`, details);
  if (!problem)
    return new SignetError("provider_answer", `The service's answer is not as expected (${status}).`);
  const { title, detail, errors } = problem;
  const faults = errors.map(({ path, message }) => `${path || "body"} ${message}`).join(", ");
  const more = [detail, faults].filter((text) => text).join(" ");
  return new SignetError("provider_refused", `${title}.${more ? ` ${more}` : ""}`, { problem });
}
