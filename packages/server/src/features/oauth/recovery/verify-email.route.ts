/** The link that verifies an email address: GET shows a button, POST verifies the address once. */
import type { FastifyInstance } from "fastify";
import { completeAction } from "../../../core/actions/complete-action.ts";
import { parsedForm } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import {
  type BrowserDeps,
  browserRoute,
  currentSession,
  hasValidCsrfToken,
  orgPath,
  pageFormOptions,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { type OpenLink, openLink, redirectToResult, showBrokenLink, showDone } from "./link.ts";
import { formFields, loadRecoveryContext, restartFlow } from "./recovery-context.ts";
import { verifyEmailPage } from "./verify-email.page.ts";

export function verifyEmailRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/oauth/:org/verify-email/:id", browserRoute(deps, showVerifyEmail));
  app.post("/oauth/:org/verify-email/:id", pageFormOptions, browserRoute(deps, verifyEmail));
  app.get("/oauth/:org/verify-email/done", browserRoute(deps, showEmailVerified));
}

async function showVerifyEmail(deps: BrowserDeps, visit: Visit): Promise<void> {
  const link = await openLink(deps, visit, "VerifyEmail");
  return link ? showForm(deps, visit, link) : showBrokenLink(deps, visit, "VerifyEmail");
}

async function verifyEmail(deps: BrowserDeps, visit: Visit): Promise<void> {
  const link = await openLink(deps, visit, "VerifyEmail");
  if (!link) return showBrokenLink(deps, visit, "VerifyEmail");
  if (!hasValidCsrfToken(deps, visit, parsedForm(visit.request)))
    return showForm(deps, visit, link, { isExpired: true, status: 403 });
  const { action, named, user } = link;
  const origin = { address: addressOf(visit.request) };
  if (!(await completeAction(deps, { action, id: named.id, origin })))
    return showBrokenLink(deps, visit, "VerifyEmail");
  const { flow } = await loadRecoveryContext(deps, visit, action.data.flow, user);
  const signedIn = await currentSession(deps, visit);
  // The sign-in continues for the user whose address it is.
  const isAnotherUser = signedIn !== undefined && signedIn.user.id !== user.id;
  const onward = flow && isAnotherUser ? restartFlow(flow, deps.clock()) : flow;
  return redirectToResult(deps, visit, "verify-email/done", { flow: onward, user });
}

async function showForm(
  deps: BrowserDeps,
  visit: Visit,
  { named, action, user }: OpenLink,
  { status = 200, isExpired }: { status?: number; isExpired?: boolean } = {},
): Promise<void> {
  const context = await loadRecoveryContext(deps, visit, action.data.flow, user);
  const page = verifyEmailPage({
    ...context,
    action: orgPath(visit.organisation, `verify-email/${named.id}`),
    hidden: formFields(deps, visit),
    email: user.email,
    isExpired,
  });
  return show(visit, context, page, { status });
}

const showEmailVerified = (deps: BrowserDeps, visit: Visit): Promise<void> =>
  showDone(deps, visit, "verifyEmail");
