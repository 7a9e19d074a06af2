/** The link that confirms an address: GET shows a button, because mail scanners follow links; POST confirms, once. */

import type { FastifyInstance } from "fastify";
import { completeAction } from "../../../core/actions/complete-action.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { formOf, type PageForm } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import {
  type BrowserDeps,
  goTo,
  isOwnForm,
  orgPath,
  ownForm,
  show,
  type Visit,
  whoIsThere,
} from "../authorize/browser.ts";
import { donePage } from "./new-password.page.ts";
import { type OpenedLink, openLink, showBrokenLink } from "./opened-link.ts";
import {
  donePath,
  doneSurroundings,
  fromTheStart,
  hiddenOf,
  surroundings,
  withFlow,
} from "./recovery-context.ts";
import { verifyEmailPage } from "./verify-email.page.ts";

export function verifyEmailRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get(
    "/oauth/:org/verify-email/:id",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const link = await openLink(deps, visit, "VerifyEmail");
      if (link) await showConfirm(deps, visit, link, {});
      else await showBrokenLink(deps, visit, "VerifyEmail");
      return visit.reply;
    }),
  );
  app.post(
    "/oauth/:org/verify-email/:id",
    ownForm,
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await confirm(deps, visit, formOf(visit.request));
      return visit.reply;
    }),
  );
  app.get(
    "/oauth/:org/verify-email/done",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await showDone(deps, visit);
      return visit.reply;
    }),
  );
}

async function confirm(deps: BrowserDeps, visit: Visit, form: PageForm): Promise<void> {
  const link = await openLink(deps, visit, "VerifyEmail");
  if (!link) return showBrokenLink(deps, visit, "VerifyEmail");
  if (!isOwnForm(deps, visit, form)) return showConfirm(deps, visit, link, { isExpired: true, status: 403 });
  const { action, named } = link;
  const origin = { address: addressOf(visit.request) };
  if (!(await completeAction(deps, { action, id: named.id, origin })))
    return showBrokenLink(deps, visit, "VerifyEmail");
  const { flow } = await surroundings(deps, visit, link.action.data.flow, link.user);
  const signedIn = await whoIsThere(deps, visit);
  // Somebody else is signed in here: the way goes on for the one whose address it is.
  const isOther = signedIn !== undefined && signedIn.user.id !== link.user.id;
  const onward = flow && isOther ? fromTheStart(flow, deps.clock()) : flow;
  return goTo(visit, donePath(deps, visit, "verify-email/done", { flow: onward, reader: link.user }));
}

async function showConfirm(
  deps: BrowserDeps,
  visit: Visit,
  { named, action, user }: OpenedLink,
  { status = 200, isExpired }: { status?: number; isExpired?: boolean },
): Promise<void> {
  const around = await surroundings(deps, visit, action.data.flow, user);
  const page = verifyEmailPage({
    ...around,
    ...around.frame,
    action: orgPath(visit.organisation, `verify-email/${named.id}`),
    hidden: hiddenOf(deps, visit, undefined),
    email: user.email,
    isExpired,
  });
  return show(visit, around.frame, page, { status });
}

async function showDone(deps: BrowserDeps, visit: Visit): Promise<void> {
  const around = await doneSurroundings(deps, visit);
  const { frame, flow, organisation } = around;
  const text = frame.messages.verifyEmail;
  const page = donePage({
    ...around,
    ...frame,
    heading: text.doneHeading,
    text: text.done({ organisation: organisation.name }),
    onwardUri: flow && withFlow(deps, visit, "authorize", flow),
  });
  return show(visit, frame, page);
}
