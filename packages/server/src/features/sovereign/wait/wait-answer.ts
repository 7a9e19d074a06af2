/** Reads the user's answer to a challenge from the wait page's form or from JSON (sovereign-signing.md §5). */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { parseJson } from "../../../http/api/json-body.ts";
import type { PageForm } from "../../../http/form-body.ts";
import type { ChallengeType } from "../requests/signing-request.ts";

export interface SubmittedAnswer {
  readonly csrf: string | undefined;
  readonly challengeId: string | undefined;
  readonly answer: unknown;
  readonly isCancel: boolean;
}

/** In characters; of an assertion as JSON. */
const MAX_TEXT_LENGTH = 1_000;
const MAX_ASSERTION_LENGTH = 16_000;

const members = new Set(["csrf", "challengeId", "answer", "cancel"]);

/** A form with repeated or sanitised fields isn't from our page: its csrf token is ignored. */
export function readFormAnswer({ values, repeated, isSanitized }: PageForm): SubmittedAnswer {
  return {
    csrf: repeated.size > 0 || isSanitized ? undefined : values.get("csrf"),
    challengeId: values.get("challengeId"),
    answer: values.get("answer"),
    isCancel: values.get("cancel") === "true",
  };
}

/** @throws ApiError for invalid JSON, OAuthError for anything but an object, and for unknown members */
export function readJsonAnswer(body: Buffer): SubmittedAnswer {
  const json = parseJson(body);
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw invalid("not an object");
  for (const name of Object.keys(json)) if (!members.has(name)) throw invalid(`${name} is unknown`);
  const { csrf, challengeId, answer, cancel } = json as Record<string, unknown>;
  for (const [name, value] of Object.entries({ csrf, challengeId }))
    if (value !== undefined && typeof value !== "string") throw invalid(`${name} must be a string`);
  if (cancel !== undefined && typeof cancel !== "boolean") throw invalid("cancel must be true or false");
  return {
    csrf: csrf as string | undefined,
    challengeId: challengeId as string | undefined,
    answer,
    isCancel: cancel === true,
  };
}

const invalid = (description: string): OAuthError =>
  new OAuthError("invalid_request", `the body is invalid: ${description}`, { status: 400 });

/**
 * What the agent gets: a passkey's assertion as an object, anything else as a string. Of number_match only that the user
 * has entered the number: the number itself goes through the agent's own channel.
 * @throws OAuthError for an answer that doesn't fit the type
 */
export function agentAnswer(type: ChallengeType, answer: unknown): unknown {
  if (type === "number_match") return true;
  if (type === "webauthn") return readAssertion(answer);
  const text = typeof answer === "string" ? answer.trim() : "";
  if (text === "" || text.length > MAX_TEXT_LENGTH) throw invalid("answer must be a string");
  return text;
}

function readAssertion(answer: unknown): object {
  const assertion = typeof answer === "string" ? tryParse(answer) : answer;
  if (
    typeof assertion !== "object" ||
    assertion === null ||
    JSON.stringify(assertion).length > MAX_ASSERTION_LENGTH
  )
    throw invalid("answer must be an assertion");
  return assertion;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
