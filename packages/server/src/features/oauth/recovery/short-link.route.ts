/**
 * GET /invite, /verify, /reset and /confirm/{id}: the addresses in emails. They redirect to the page of the link at its
 * organisation, which also says that a link is used or expired. They complete nothing.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { findActionOfLink } from "../../../core/actions/actions.ts";
import { linkPagePath } from "../../../core/actions/link-address.ts";
import type { ActionType } from "../../../core/actions/user-action.ts";
import { render } from "../../../html/html.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { newNonce, sendPage } from "../../../http/page.ts";
import type { BrowserDeps } from "../authorize/browser.ts";
import { brokenLinkPage } from "./new-password.page.ts";

export function shortLinkRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/invite/:id", redirectToPage(deps, ["AcceptInvitation", "AcceptRoaming"]));
  app.get("/verify/:id", redirectToPage(deps, ["VerifyEmail", "SignUp"]));
  app.get("/reset/:id", redirectToPage(deps, ["ResetPassword"]));
  app.get("/confirm/:id", redirectToPage(deps, ["ChangeEmail"]));
}

const redirectToPage =
  (deps: BrowserDeps, types: readonly ActionType[]) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { id = "" } = request.params as { id?: string };
    const action = await findActionOfLink(deps, { id, types });
    if (!action) await showUnknown(request, reply);
    else
      await reply
        .headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" })
        .redirect(linkPagePath({ id, action }), 303);
    return reply;
  };

async function showUnknown(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const nonce = newNonce();
  const page = brokenLinkPage({
    messages: messages(preferredLocales(undefined, request.headers["accept-language"])),
    nonce,
    stylesheet: stylesheet.path,
  });
  await sendPage(reply, render(page), { nonce, status: 404 });
}
