/** What isn't there below the console: its administrators keep the frame, everyone else gets the plain error page. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { SignedIn } from "../core/sessions/session.ts";
import { missingPage } from "../html/components/act.page.ts";
import type { RenderErrorPage } from "../http/error-handlers.ts";
import { consoleFrame } from "./console-frame.ts";
import { type ConsoleDeps, failsLoginPolicy, show, type Visit } from "./page.ts";

type NotFoundDeps = Pick<ConsoleDeps, "database" | "organisations" | "browserSession">;

export const notFoundInFrame =
  (deps: NotFoundDeps, render: RenderErrorPage): RenderErrorPage =>
  async (request, reply, shown) => {
    const visit = shown.status === 404 ? await consoleVisit(deps, request, reply) : undefined;
    const signedIn = visit && (await administratorOf(deps, visit));
    if (!visit || !signedIn) return render(request, reply, shown);
    const frame = await consoleFrame(deps, visit, signedIn, undefined);
    await show(visit, frame, missingPage(frame), 404);
  };

async function administratorOf(
  deps: Pick<ConsoleDeps, "browserSession">,
  visit: Visit,
): Promise<SignedIn | undefined> {
  const signedIn = await deps.browserSession.peekSession(visit);
  const isAdministrator = signedIn?.user.role === "Administrator";
  return isAdministrator && !(await failsLoginPolicy(deps, visit, signedIn)) ? signedIn : undefined;
}

/** From the address alone: an unknown one has no route and no parameters. */
async function consoleVisit(
  { organisations }: NotFoundDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Visit | undefined> {
  const [, org = ""] = /^\/(?:oauth|devices)\/manage\/([\w-]{36})(?:[/?]|$)/.exec(request.url) ?? [];
  const organisation = isUuid(org) ? await organisations.find(org.toLowerCase()) : undefined;
  return organisation && { organisation, request, reply };
}
