/** Shows the page for a user who is not assigned to the application, in every flow: OAuth, federation, device. */
import type { Application } from "../../../../core/applications/application.ts";
import type { User } from "../../../../core/users/user.ts";
import {
  type BrowserDeps,
  flowPath,
  formBinding,
  orgPath,
  pageApplication,
  pageFrame,
  show,
  type Visit,
} from "../browser.ts";
import { type Flow, withAnotherAccount } from "../flow.ts";
import type { PageRequest } from "../page-request.ts";
import type { AuthorizationRequest } from "../request/authorization-request.ts";
import { notAssignedPage } from "./not-assigned.page.ts";

interface Denied {
  readonly flow: Flow;
  readonly request: AuthorizationRequest | PageRequest;
  readonly user: User;
  /** If the request has none. */
  readonly application?: Application;
}

export async function showNotAssigned(
  deps: BrowserDeps,
  visit: Visit,
  { flow, request, user, application = request.application }: Denied,
): Promise<void> {
  if (!application) throw new Error("a page without an application denies no user");
  const frame = pageFrame(visit, request.uiLocales, user);
  const prompts = request.prompts.filter((prompt) => prompt === "consent");
  const action = orgPath(visit.organisation, "authorize");
  const hasClient = !("page" in request);
  const page = notAssignedPage({
    ...frame,
    application: pageApplication(application),
    user: { email: user.email },
    contacts: application.settings.contacts,
    otherAccountUri: flowPath(deps, visit, "authorize", withAnotherAccount(flow, prompts, deps.clock())),
    ...(hasClient
      ? { back: { action, csrf: formBinding(deps, visit).csrf, flow: deps.flows.seal(flow) } }
      : {}),
  });
  return show(visit, frame, page, { status: 403, leadsAway: hasClient });
}
