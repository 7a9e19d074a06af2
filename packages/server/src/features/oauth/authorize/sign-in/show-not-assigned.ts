/** The page for who may not use an application, wherever they wanted to: by OAuth, by the federation, on a device. */
import type { Application } from "../../../../core/applications/application.ts";
import type { User } from "../../../../core/users/user.ts";
import {
  type BrowserDeps,
  csrfToken,
  orgPath,
  pageApplication,
  pageFrame,
  pageOrganisation,
  show,
  type Visit,
} from "../browser.ts";
import { type Flow, withAnotherAccount } from "../flow.ts";
import type { PageRequest } from "../page-request.ts";
import type { AuthorizationRequest } from "../request/authorization-request.ts";
import { notAssignedPage } from "./not-assigned.page.ts";

export interface NotAssignedShown {
  readonly flow: Flow;
  readonly request: AuthorizationRequest | PageRequest;
  readonly user: User;
  /** When the request names none. */
  readonly application?: Application;
}

export async function showNotAssigned(
  deps: BrowserDeps,
  visit: Visit,
  { flow, request, user, application = request.application }: NotAssignedShown,
): Promise<void> {
  if (!application) throw new Error("nobody is kept out of a page that leads to no application");
  const frame = pageFrame(visit, request.uiLocales, user);
  const kept = request.prompts.filter((prompt) => prompt === "consent");
  const otherAccount = deps.flows.seal(withAnotherAccount(flow, kept, deps.clock()));
  const action = orgPath(visit.organisation, "authorize");
  const answers = !("page" in request);
  const page = notAssignedPage({
    ...frame,
    organisation: pageOrganisation(visit.organisation),
    application: pageApplication(application),
    user: { email: user.email },
    contacts: application.settings.contacts,
    otherAccountUri: `${action}?flow=${otherAccount}`,
    ...(answers ? { back: { action, csrf: csrfToken(deps, visit), flow: deps.flows.seal(flow) } } : {}),
  });
  return show(visit, frame, page, { status: 403, leadsAway: answers });
}
