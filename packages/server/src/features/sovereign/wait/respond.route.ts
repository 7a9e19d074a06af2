/** The user answers the agent's challenge, or cancels, by the page's form (redirect) or as JSON (202). */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { addJson, rawBody } from "../../../http/api/json-body.ts";
import { CodedError } from "../../../http/coded-error.ts";
import type { ErrorHandler } from "../../../http/error-handlers.ts";
import { parsedForm } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { type AnswerOutcome, answerChallenge, cancelRequest } from "../requests/challenge/challenge-user.ts";
import { redirect, showWaitPage } from "./wait.route.ts";
import { agentAnswer, readFormAnswer, readJsonAnswer, type SubmittedAnswer } from "./wait-answer.ts";
import { isFinal } from "./wait-status.ts";
import { loadWaitingRequest, type Visit, type WaitDeps, type WaitingRequest } from "./waiting-request.ts";

/** The scope of the pages parses forms; this one parses JSON, too. */
export function respondRoute(scope: FastifyInstance, deps: WaitDeps): void {
  addJson(scope);
  const errorHandler: ErrorHandler = (error, request, reply) =>
    deps.errorHandlers[isJson(request) ? "program" : "page"](error, request, reply);
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

/** @throws OAuthError for an invalid answer */
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
