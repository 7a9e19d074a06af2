/**
 * The wait page of a browser whose tokens an agent signs: the page, its status as JSON and as a stream, and the way back to
 * the application. Only the browser session that began the request has access; every other gets 404.
 */
import type { FastifyInstance, RouteHandlerMethod } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Continuation } from "../../../core/tokens/pool-signing.ts";
import { render } from "../../../html/html.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { newNonce, sendPage } from "../../../http/page.ts";
import { pageOrganisation } from "../../../page-kit/console-frame.ts";
import type { Visit } from "../../../page-kit/page.ts";
import { signingOutcome, waitForChange } from "../requests/request-status.ts";
import { waitPage } from "./wait.page.ts";
import type { WaitFailure } from "./wait-challenge.ts";
import { isFinal } from "./wait-status.ts";
import { type StatusStreams, statusStreams } from "./wait-stream.ts";
import {
  describeWait,
  isRequestOwner,
  loadWaitingRequest,
  type WaitDeps,
  type WaitingRequest,
} from "./waiting-request.ts";

export function waitRoutes(app: FastifyInstance, deps: WaitDeps): void {
  const streams = statusStreams(deps.workers);
  // Before the server waits for its connections to close: a stream would keep one open until its request is final.
  app.addHook("preClose", async () => streams.endAll());
  const forOwner = (
    answer: (visit: Visit, waiting: WaitingRequest) => Promise<unknown>,
  ): RouteHandlerMethod =>
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await answer(visit, await loadWaitingRequest(deps, visit));
      return visit.reply;
    });
  const errorHandler = deps.errorHandlers.program;

  app.get(
    "/oauth/:org/sovereign/wait/:requestId",
    forOwner(async (visit, waiting) => {
      const { status, path } = waiting;
      const isSigned = status.status === "signed" && status.continueUrl !== undefined;
      // /continue works once: a second visit of this page shows the page.
      return isSigned ? redirect(visit, `${path}/continue`) : showWaitPage(deps, visit, waiting);
    }),
  );
  app.get(
    "/oauth/:org/sovereign/wait/:requestId/status",
    { errorHandler },
    forOwner(async ({ reply }, { status }) => reply.header("cache-control", "no-store").send(status)),
  );
  app.get(
    "/oauth/:org/sovereign/wait/:requestId/stream",
    { errorHandler },
    forOwner((visit, waiting) => streamStatus(deps, streams, visit, waiting)),
  );
  app.get(
    "/oauth/:org/sovereign/wait/:requestId/continue",
    forOwner((visit, waiting) => continueToApplication(deps, visit, waiting)),
  );
}

/** @param failure why an answer was not accepted, and the HTTP status of the page */
export async function showWaitPage(
  deps: WaitDeps,
  visit: Visit,
  { request: signing, status, application, polledFor, path }: WaitingRequest,
  failure?: { readonly error: WaitFailure; readonly code: number },
): Promise<void> {
  const { organisation, request, reply } = visit;
  const uiLocales = deps.uiLocales(visit, signing.continuation);
  const nonce = newNonce();
  const page = waitPage({
    messages: messages(preferredLocales(uiLocales, request.headers["accept-language"])),
    nonce,
    stylesheet: stylesheet.path,
    organisation: pageOrganisation(organisation),
    application: {
      name: application.name,
      homepageUri: application.settings.homepageUri,
      logoUri: application.settings.logoUri,
    },
    status,
    polledFor,
    path,
    csrf: deps.session.formBinding(visit).csrf,
    error: failure?.error,
  });
  // A form's redirects end at the application: its form-action policy must allow that.
  await sendPage(reply, render(page), { nonce, redirectsElsewhere: true, status: failure?.code ?? 200 });
}

async function streamStatus(
  deps: WaitDeps,
  streams: StatusStreams,
  visit: Visit,
  { request, status }: WaitingRequest,
): Promise<void> {
  await streams.open(visit.request, visit.reply, {
    first: status,
    next: async (sinceSeq, ms, signal) => {
      const changed = await waitForChange(deps.signing, request, { sinceSeq, ms, signal });
      // The session may have ended meanwhile.
      return changed && (await isRequestOwner(deps, visit, changed))
        ? describeWait(deps, visit, changed).status
        : undefined;
    },
  });
}

async function continueToApplication(deps: WaitDeps, visit: Visit, waiting: WaitingRequest): Promise<void> {
  const { request, status, path, polledFor } = waiting;
  if (!isFinal(status.status) || polledFor !== undefined) return redirect(visit, path);
  const outcome = signingOutcome(request);
  const continuation = request.continuation as Continuation | null | undefined;
  if (continuation?.kind === "authorization" && outcome !== "waiting") {
    const waited = { requestId: request.requestId, continuation, outcome };
    if (await deps.continueAuthorization(visit, waited)) return;
  }
  // The code was issued before. Without `continueUrl`, or the page would lead here again.
  const { continueUrl: _, ...rest } = status;
  return showWaitPage(deps, visit, { ...waiting, status: rest });
}

export async function redirect({ reply }: Visit, path: string): Promise<void> {
  await reply.header("cache-control", "no-store").redirect(path, 303);
}
