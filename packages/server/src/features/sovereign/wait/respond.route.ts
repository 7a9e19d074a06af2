/** The user answers the agent's challenge, or cancels, by the page's form (redirect) or as JSON (202). */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { addJson, parseJson, rawBody } from "../../../http/api/json-body.ts";
import { CodedError } from "../../../http/coded-error.ts";
import type { ErrorHandler } from "../../../http/error-handlers.ts";
import { type PageForm, parsedForm } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { acceptsPage } from "../../../http/program.ts";
import type { Visit } from "../../../page-kit/page.ts";
import { type AnswerOutcome, answerChallenge, cancelRequest } from "../requests/challenge/challenge-user.ts";
import type { ChallengeType } from "../requests/signing-request.ts";
import { redirect, showWaitPage } from "./wait.route.ts";
import { isFinal } from "./wait-status.ts";
import { loadWaitingRequest, type WaitDeps, type WaitingRequest } from "./waiting-request.ts";

/** The scope of the pages parses forms; this one parses JSON, too. */
export function respondRoute(scope: FastifyInstance, deps: WaitDeps): void {
  addJson(scope);
  const errorHandler: ErrorHandler = (error, request, reply) =>
    deps.errorHandlers[expectsPage(request) ? "page" : "program"](error, request, reply);
  scope.post(
    "/oauth/:org/sovereign/wait/:requestId/respond",
    { errorHandler },
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const waiting = await loadWaitingRequest(deps, visit);
      await (isJson(visit.request) ? respondToJson : respondToForm)(deps, visit, waiting);
      return visit.reply;
    }),
  );
}

/** Our page's form, or a browser's own request. */
const expectsPage = (request: FastifyRequest): boolean =>
  acceptsPage(request) ||
  /^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "");

const isJson = ({ headers }: FastifyRequest): boolean =>
  /^application\/json\b/i.test(headers["content-type"] ?? "");

async function respondToJson(deps: WaitDeps, visit: Visit, waiting: WaitingRequest): Promise<void> {
  const submitted = readJsonAnswer(rawBody(visit.request));
  if (!deps.session.hasValidCsrfToken(visit, submitted.csrf)) throw refused(403, "csrf");
  const outcome = await submitAnswer(deps, visit, waiting, submitted);
  if (outcome !== "accepted") throw refused(409, outcome);
  await visit.reply.code(202).header("cache-control", "no-store").send({ status: "accepted" });
}

const descriptions = {
  csrf: "the csrf token is missing, or belongs to another browser session",
  stale_challenge: "this challenge is no longer open",
  already_answered: "this challenge was answered already",
} as const;

const refused = (status: number, code: keyof typeof descriptions) =>
  new CodedError(status, code, descriptions[code]);

async function respondToForm(deps: WaitDeps, visit: Visit, waiting: WaitingRequest): Promise<void> {
  const submitted = readFormAnswer(parsedForm(visit.request));
  if (!deps.session.hasValidCsrfToken(visit, submitted.csrf))
    return showWaitPage(deps, visit, waiting, { error: "page-too-old", code: 403 });
  const outcome = await submitAnswer(deps, visit, waiting, submitted).catch(ignoreInvalidAnswer);
  // A double click and an empty field show the page as it is.
  if (outcome !== "stale_challenge") return redirect(visit, waiting.path);
  const current = await loadWaitingRequest(deps, visit);
  if (isFinal(current.status.status)) return redirect(visit, current.path);
  return showWaitPage(deps, visit, current, { error: "stale", code: 409 });
}

function ignoreInvalidAnswer(error: unknown): AnswerOutcome {
  if (error instanceof OAuthError) return "already_answered";
  throw error;
}

async function submitAnswer(
  { signing }: WaitDeps,
  visit: Visit,
  { request }: WaitingRequest,
  { challengeId, answer, isCancel }: SubmittedAnswer,
): Promise<AnswerOutcome> {
  if (isCancel) {
    const refusal = { challengeId, address: addressOf(visit.request) };
    return (await cancelRequest(signing, request, refusal)) ? "accepted" : "stale_challenge";
  }
  if (challengeId === undefined) return "stale_challenge";
  const isOpen = request.challenge?.challengeId === challengeId;
  return answerChallenge(signing, request, {
    challengeId,
    // A closed challenge's answer doesn't matter: `answerChallenge` tells whether it was answered.
    answer: isOpen && request.challenge ? agentAnswer(request.challenge.type, answer) : "",
  });
}

interface SubmittedAnswer {
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
