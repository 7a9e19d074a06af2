/**
 * wait/{requestId}: the page of a browser whose tokens an agent signs, with its status, its stream, the person's answers,
 * and the way on. All of it is for the browser session that began the request, and 404 for every other.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { render } from "../../../html/html.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { newNonce, sendPage } from "../../../http/page.ts";
import { waitPage } from "./wait.page.ts";
import { isFinal } from "./wait-status.ts";
import { statusStreams } from "./wait-stream.ts";
import type { WaitFailure } from "./wait-view.ts";
import { described, isTheirs, type Visit, type WaitDeps, type Waiting, waitingHere } from "./wait-visit.ts";

const WAIT = "/oauth/:org/sovereign/wait/:requestId";

export function waitRoutes(app: FastifyInstance, deps: WaitDeps): void {
  const streams = statusStreams();
  // Before the server waits for its connections to end: a stream would keep it until the request is over.
  app.addHook("preClose", async () => streams.endAll());
  const here = (answer: (visit: Visit, waiting: Waiting) => Promise<void>) =>
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await answer(visit, await waitingHere(deps, visit));
      return visit.reply;
    });
  const errorHandler = deps.errorHandlers.program;
  app.get(
    WAIT,
    here((visit, waiting) => showOrGoOn(deps, visit, waiting)),
  );
  app.get(
    `${WAIT}/status`,
    { errorHandler },
    here(async ({ reply }, { status }) => {
      await reply.header("cache-control", "no-store").send(status);
    }),
  );
  app.get(
    `${WAIT}/stream`,
    { errorHandler },
    here((visit, waiting) => stream(deps, visit, { waiting, streams })),
  );
  app.get(
    `${WAIT}/continue`,
    here((visit, waiting) => goOn(deps, visit, waiting)),
  );
}

/** Who is signed for need not read that; the way on is taken once, so that a second visit finds the page. */
async function showOrGoOn(deps: WaitDeps, visit: Visit, waiting: Waiting): Promise<void> {
  const { status, path } = waiting;
  if (status.status === "signed" && status.continueUrl !== undefined)
    return redirect(visit, `${path}/continue`);
  return showWait(deps, visit, waiting);
}

/** @param failure why an answer was not taken, with the status of the answer to it */
export async function showWait(
  deps: Pick<WaitDeps, "browserSession" | "uiLocales">,
  visit: Visit,
  { request: signing, status, application, isForDevice, path }: Waiting,
  failure?: { readonly error: WaitFailure; readonly code: number },
): Promise<void> {
  const { organisation, request, reply } = visit;
  const { branding } = organisation.settings;
  const { homepageUri, logoUri } = application.settings;
  const frame = frameOf(request, deps.uiLocales(visit, signing.continuation));
  const page = waitPage({
    ...frame,
    organisation: {
      name: organisation.name,
      accentColor: branding.accentColor,
      logoUri: branding.logoUri,
    },
    application: { name: application.name, homepageUri, logoUri },
    status,
    isForDevice,
    path,
    csrf: deps.browserSession.formBinding(visit).csrf,
    error: failure?.error,
  });
  // The way on ends at the application, and browsers hold that against the form it began with.
  await sendPage(reply, render(page), {
    nonce: frame.nonce,
    leadsAway: true,
    ...(failure ? { status: failure.code } : {}),
  });
}

function frameOf(request: FastifyRequest, uiLocales: string | undefined) {
  return {
    messages: messages(preferredLocales(uiLocales, request.headers["accept-language"])),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
  };
}

async function stream(
  deps: WaitDeps,
  visit: Visit,
  { waiting, streams }: { waiting: Waiting; streams: ReturnType<typeof statusStreams> },
): Promise<void> {
  const { id: orgId } = visit.organisation;
  const { requestId } = waiting.status;
  await streams.open(visit.request, visit.reply, {
    first: waiting.status,
    next: async (sinceSeq, ms, signal) => {
      const request = await deps.requests.waitFor(orgId, requestId, sinceSeq, ms, signal);
      // Who has signed out meanwhile, or was made to, hears no more.
      return request && (await isTheirs(deps, visit, request))
        ? described(deps, visit, request).status
        : undefined;
    },
  });
}

async function goOn(deps: WaitDeps, visit: Visit, waiting: Waiting): Promise<void> {
  const { status, path, isForDevice } = waiting;
  if (!isFinal(status.status) || isForDevice) return redirect(visit, path);
  if (await deps.goOn(visit, status.requestId)) return;
  // The code was issued before. Said here: the wait page would lead here again.
  const { continueUrl: _, ...withoutWay } = status;
  return showWait(deps, visit, { ...waiting, status: withoutWay });
}

/** What comes next is decided on a request of its own, which can be reloaded. */
export async function redirect({ reply }: Visit, path: string): Promise<void> {
  await reply.header("cache-control", "no-store").redirect(path, 303);
}
