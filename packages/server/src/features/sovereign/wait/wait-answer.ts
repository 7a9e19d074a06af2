/** What a person answers to the agent's question, as the wait page's form or as JSON (sovereign-signing.md §5). */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { parseJson } from "../../../http/api/json-body.ts";
import type { PageForm } from "../../../http/form-body.ts";
import type { ChallengeType } from "../requests/signing-request.ts";

export interface GivenAnswer {
  readonly csrf: string | undefined;
  readonly challengeId: string | undefined;
  readonly answer: unknown;
  readonly isCancel: boolean;
}

/** Characters of a text, and of an assertion as JSON. */
const MOST_TEXT = 1_000;
const MOST_ASSERTION = 16_000;

const members = new Set(["csrf", "challengeId", "answer", "cancel"]);

/** Of what no page of ours holds, a field that is there twice or no text, nothing is taken. */
export function answerOfForm({ values, repeated, isMended }: PageForm): GivenAnswer {
  return {
    csrf: repeated.size > 0 || isMended ? undefined : values.get("csrf"),
    challengeId: values.get("challengeId"),
    answer: values.get("answer"),
    isCancel: values.get("cancel") === "true",
  };
}

/** @throws ApiError for what is no JSON, OAuthError for what is no object, and for members that mean nothing here */
export function answerOfJson(body: Buffer): GivenAnswer {
  const given = parseJson(body);
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw unreadable("not an object");
  for (const name of Object.keys(given)) if (!members.has(name)) throw unreadable(`${name} is not known`);
  const { csrf, challengeId, answer, cancel } = given as Record<string, unknown>;
  for (const [name, value] of Object.entries({ csrf, challengeId }))
    if (value !== undefined && typeof value !== "string") throw unreadable(`${name} must be a text`);
  if (cancel !== undefined && typeof cancel !== "boolean") throw unreadable("cancel must be true or false");
  return {
    csrf: csrf as string | undefined,
    challengeId: challengeId as string | undefined,
    answer,
    isCancel: cancel === true,
  };
}

const unreadable = (what: string): OAuthError =>
  new OAuthError("invalid_request", `the body cannot be used: ${what}`, { status: 400 });

/**
 * What the agent is handed: a passkey's assertion as an object, everything else as a text; for a number only that it was
 * entered, as the number itself goes to the agent's own channel.
 * @throws OAuthError for what is no answer to such a question
 */
export function answerTo(type: ChallengeType, answer: unknown): unknown {
  if (type === "number_match") return true;
  if (type === "webauthn") return assertionOf(answer);
  const text = typeof answer === "string" ? answer.trim() : "";
  if (text === "" || text.length > MOST_TEXT) throw unreadable("answer must be a text");
  return text;
}

function assertionOf(answer: unknown): object {
  const given = typeof answer === "string" ? objectIn(answer) : answer;
  if (typeof given !== "object" || given === null || JSON.stringify(given).length > MOST_ASSERTION)
    throw unreadable("answer must be an assertion");
  return given;
}

function objectIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
