/** GET and POST link-account: links the account that the person signs in to now, by its own factors and in this browser. */
import type { FastifyInstance } from "fastify";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { linkProvenAccount } from "../../../../core/connections/sign-in/link-identity.ts";
import { updatePendingIdentity } from "../../../../core/connections/sign-in/pending-identities.store.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import { emailKey } from "../../../../core/users/user.ts";
import { parsedForm } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import {
  browserRoute,
  continueFlow,
  hasValidCsrfToken,
  orgPath,
  pageFormOptions,
  redirectTo,
  show,
  type Visit,
} from "../../authorize/browser.ts";
import { withEmail } from "../../authorize/flow.ts";
import { pageFlow } from "../../authorize/page-request.ts";
import { readFlow, takeStep } from "../../authorize/take-step.ts";
import type { ConnectionDeps } from "../connection-visit.ts";
import { showConnectionError } from "../show-connection-error.ts";
import { type LinkAccountView, linkAccountPage } from "./link-account.page.ts";
import { endPending, type PendingVisit, pendingPage, readPending, recordSuccess } from "./pending-visit.ts";

export function linkAccountRoutes(app: FastifyInstance, deps: ConnectionDeps): void {
  app.get("/oauth/:org/link-account", browserRoute(deps, showLinkAccount));
  app.post("/oauth/:org/link-account", pageFormOptions, browserRoute(deps, receiveLinkAccount));
}

type Linkable = PendingVisit & { readonly email: string };

/** @returns undefined when the response has been sent */
async function readLinkable(deps: ConnectionDeps, visit: Visit): Promise<Linkable | undefined> {
  const here = await readPending(deps, visit);
  if (!here) return undefined;
  const { email } = here.pending;
  if (email !== null) return { ...here, email };
  await redirectTo(visit, orgPath(visit.organisation, "email-code"));
  return undefined;
}

async function receiveLinkAccount(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const here = await readLinkable(deps, visit);
  if (!here) return;
  const form = parsedForm(visit.request);
  if (!hasValidCsrfToken(deps, visit, form))
    return showPage(deps, visit, here, { error: "session-expired", status: 403 });
  if (form.values.get("act") === "cancel") {
    await endPending(deps, visit, here);
    return continueFlow(deps, visit, here.current.flow);
  }
  await updatePendingIdentity(deps.database.query, here.pending, { askedAt: deps.clock() });
  return redirectTo(visit, orgPath(visit.organisation, "link-account"));
}

async function showLinkAccount(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const here = await readLinkable(deps, visit);
  if (!here) return;
  const { askedAt } = here.pending;
  const { uiLocales } = here.current.request;
  if (askedAt === null) return showPage(deps, visit, here, {});
  const path = orgPath(visit.organisation, "link-account");
  // Of the account's own pages: a trusted browser does not stand for its second factor.
  const page = { place: "account", path } as const;
  const wish = { prompt: "login", loginHint: here.email, uiLocales } as const;
  // The address is known: its domain's connection, which has sent the person here, is no way to the account.
  const flow = withEmail(pageFlow(visit.organisation.id, page, askedAt, wish), here.email);
  const signIn = await readFlow(deps, visit, flow);
  if (!signIn) return;
  if (signIn.step.kind !== "signed-in") return takeStep(deps, visit, signIn);
  return link(deps, visit, here, signIn.step.signedIn);
}

async function link(deps: ConnectionDeps, visit: Visit, here: Linkable, { user }: SignedIn): Promise<void> {
  const { connection, pending, current } = here;
  if (emailKey(user.email) !== emailKey(here.email)) {
    await updatePendingIdentity(deps.database.query, pending, { askedAt: null });
    return showPage(deps, visit, here, { error: "other-account", status: 403 });
  }
  await endPending(deps, visit, here);
  try {
    await linkProvenAccount(deps, connection, pending.identity, { user, address: addressOf(visit.request) });
  } catch (error) {
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    return showConnectionError(deps, visit, { connection, failure: error, flow: current.flow });
  }
  await recordSuccess(deps, visit, connection, pending.identity);
  return continueFlow(deps, visit, current.flow);
}

async function showPage(
  deps: ConnectionDeps,
  visit: Visit,
  here: Linkable,
  { status = 200, error }: { readonly status?: number; readonly error?: LinkAccountView["error"] },
): Promise<void> {
  const { frame, redirectsElsewhere } = pendingPage(deps, visit, here, "link-account");
  const page = linkAccountPage({ ...frame, email: here.email, error });
  return show(visit, frame, page, { status, redirectsElsewhere });
}
