/**
 * POST wait/{requestId}/respond: what a person answers to the agent's question, or that they cancel. A form is led back to
 * the wait page, which says what counts by then; a program gets JSON.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { addJson, rawBody } from "../../../http/api/json-body.ts";
import { CodedError } from "../../../http/coded-error.ts";
import type { ErrorHandler } from "../../../http/error-handlers.ts";
import { formOf } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { redirect, showWait } from "./wait.route.ts";
import { answerOfForm, answerOfJson, answerTo, type GivenAnswer } from "./wait-answer.ts";
import { isFinal } from "./wait-status.ts";
import { type Visit, type WaitDeps, type Waiting, waitingHere } from "./wait-visit.ts";

/** The scope of the pages takes forms; this one takes JSON, too. */
export function respondRoute(scope: FastifyInstance, deps: WaitDeps): void {
  addJson(scope);
  const errorHandler: ErrorHandler = (error, request, reply) =>
    deps.errorHandlers[isJson(request) ? "program" : "page"](error, request, reply);
  scope.post(
    "/oauth/:org/sovereign/wait/:requestId/respond",
    { errorHandler },
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const waiting = await waitingHere(deps, visit);
      await (isJson(visit.request) ? respondToProgram : respondToForm)(deps, visit, waiting);
      return visit.reply;
    }),
  );
}

const isJson = ({ headers }: FastifyRequest): boolean =>
  /^application\/json\b/i.test(headers["content-type"] ?? "");

type Outcome = "accepted" | "stale_challenge" | "already_answered";

async function respondToProgram(deps: WaitDeps, visit: Visit, waiting: Waiting): Promise<void> {
  const given = answerOfJson(rawBody(visit.request));
  if (!deps.browserSession.isOwnForm(visit, given.csrf)) throw refused(403, "csrf");
  const outcome = await take(deps, visit, waiting, given);
  if (outcome !== "accepted") throw refused(409, outcome);
  await visit.reply.code(202).header("cache-control", "no-store").send({ status: "accepted" });
}

const descriptions = {
  csrf: "the csrf token is missing, or is not this browser's",
  stale_challenge: "this is not what is asked now",
  already_answered: "it is answered already",
} as const;

const refused = (status: number, code: keyof typeof descriptions) =>
  new CodedError(status, code, descriptions[code]);

async function respondToForm(deps: WaitDeps, visit: Visit, waiting: Waiting): Promise<void> {
  const given = answerOfForm(formOf(visit.request));
  if (!deps.browserSession.isOwnForm(visit, given.csrf))
    return showWait(deps, visit, waiting, { error: "page-too-old", code: 403 });
  const outcome = await take(deps, visit, waiting, given).catch(noAnswer);
  // A button that was pressed twice is no fault, nor is a field that was left empty.
  if (outcome !== "stale_challenge") return redirect(visit, waiting.path);
  const now = await waitingHere(deps, visit);
  if (isFinal(now.status.status)) return redirect(visit, now.path);
  return showWait(deps, visit, now, { error: "stale", code: 409 });
}

/** An empty field, say: the question stands as it stood. */
function noAnswer(error: unknown): Outcome {
  if (error instanceof OAuthError) return "already_answered";
  throw error;
}

/** @throws OAuthError when it is no answer to what is asked */
async function take(
  deps: WaitDeps,
  visit: Visit,
  { request }: Waiting,
  given: GivenAnswer,
): Promise<Outcome> {
  const { orgId, requestId, challenge } = request;
  const { challengeId, answer, isCancel } = given;
  if (isCancel) {
    const isCancelled = await deps.requests.cancel(orgId, requestId, challengeId, addressOf(visit.request));
    return isCancelled ? "accepted" : "stale_challenge";
  }
  if (challengeId === undefined) return "stale_challenge";
  const isAsked = challenge?.challengeId === challengeId;
  return deps.requests.respond(orgId, requestId, {
    challengeId,
    // Of another question only its name counts: the state machine knows whether it was answered.
    answer: isAsked ? answerTo(challenge.type, answer) : "",
  });
}
