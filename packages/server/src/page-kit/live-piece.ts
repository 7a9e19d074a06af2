/**
 * A part of a page that its script fetches again and again (scripts/live.js). The same administrators may see it as the page;
 * fetching is no activity, so that a page left open keeps no session alive.
 */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../core/sessions/session.ts";
import type { Html } from "../html/html.ts";
import type { Messages } from "../html/messages/messages.ts";
import { newNonce } from "../http/page.ts";
import { pageMessages } from "./console-frame.ts";
import { type CONSOLE, type ConsoleDeps, consoleRoute, failsLoginPolicy, show, type Visit } from "./page.ts";

/**
 * @param url as the part's `data-live` has it
 * @param piece the element with that attribute; undefined when there is nothing to show any more
 */
export function livePieceRoute<Deps extends ConsoleDeps>(
  app: FastifyInstance,
  deps: Deps,
  url: `${typeof CONSOLE}/${string}`,
  piece: (deps: Deps, visit: Visit, messages: Messages, signedIn: SignedIn) => Promise<Html | undefined>,
): void {
  consoleRoute(app, deps, url, {
    get: (_, visit) =>
      sendLivePiece(deps, visit, (messages, signedIn) => piece(deps, visit, messages, signedIn)),
  });
}

/** The same for a page at another address than the console's. */
export async function sendLivePiece(
  deps: ConsoleDeps,
  visit: Visit,
  piece: (messages: Messages, signedIn: SignedIn) => Promise<Html | undefined>,
): Promise<void> {
  const signedIn = await reader(deps, visit);
  if (!signedIn) return sendStatus(visit, 403);
  const found = await piece(pageMessages(visit, signedIn), signedIn);
  await (found ? show(visit, { nonce: newNonce() }, found) : sendStatus(visit, 404));
}

async function reader(deps: ConsoleDeps, visit: Visit): Promise<SignedIn | undefined> {
  const signedIn = await deps.browserSession.peekSession(visit);
  if (signedIn?.user.role === "Administrator")
    return (await failsLoginPolicy(deps, visit, signedIn)) ? undefined : signedIn;
  return deps.browserSession.portalVisit(visit);
}

/** For the script alone: nobody sees a page. */
async function sendStatus({ reply }: Visit, status: number): Promise<void> {
  await reply.code(status).header("cache-control", "no-store").send();
}
