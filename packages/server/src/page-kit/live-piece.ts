/**
 * A piece of a page that its script asks for again and again (scripts/live.js). The same administrators may see it as see
 * the page; looking by itself is no activity, so that a page left open keeps no session alive.
 */
import type { FastifyInstance } from "fastify";
import type { Html } from "../html/html.ts";
import type { Messages } from "../html/messages/messages.ts";
import { newNonce } from "../http/page.ts";
import { readerMessages } from "./reader-language.ts";
import { type ConsoleDeps, consoleRoute, lacksAnything, show, type Visit } from "./visit.ts";

/**
 * @param rest below `/oauth/manage/{org}`, as the piece's `data-live` says it
 * @param piece the element with that attribute; undefined where there is nothing any more
 */
export function livePieceRoute(
  app: FastifyInstance,
  deps: Pick<ConsoleDeps, "door" | "organisations" | "showError">,
  rest: string,
  piece: (visit: Visit, messages: Messages) => Promise<Html | undefined>,
): void {
  consoleRoute(app, deps, rest, {
    get: async (visit) => {
      const signedIn = await deps.door.whoWatches(visit);
      const mayLook =
        signedIn?.user.role === "Administrator" && !(await lacksAnything(deps, visit, signedIn));
      const words = () => readerMessages(visit.request, signedIn?.user, visit.organisation);
      const found = mayLook ? await piece(visit, words()) : undefined;
      if (found) return show(visit, { nonce: newNonce() }, found);
      // For the script alone: there is nobody to be shown a page.
      await visit.reply
        .code(mayLook ? 404 : 403)
        .header("cache-control", "no-store")
        .send();
    },
  });
}
