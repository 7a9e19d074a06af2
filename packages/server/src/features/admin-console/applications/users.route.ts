/** Users assigned to an application: listed, added by email address, removed. */
import type { FastifyInstance } from "fastify";
import { isAssigned, listAssignedUsers } from "../../../core/application-access/application-access.store.ts";
import { assignUser, unassignUser } from "../../../core/application-access/application-access.ts";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount, findUser } from "../../../core/users/users.store.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { html } from "../../../html/html.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import { loadActorLabels } from "../../../page-kit/actor-names.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { ALREADY_APPLIED, consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { ROWS_PER_PAGE, readCursor, splitPage } from "../../../page-kit/list-page.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  requestPath,
  requireAdministrator,
  requireId,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { applicationPath, recordCrumbs, requireApplication } from "./application-path.ts";
import { usersPage } from "./users.page.ts";

export function applicationUsersRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/users", { get: listUsers, post: assign });
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/users/:user/take-off", unassignment);
}

async function listUsers(deps: ConsoleDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireAdministrator(deps, visit);
  await showUsers(deps, visit, signedIn, await requireApplication(deps, visit));
}

interface Shown {
  readonly email?: string;
  readonly fault?: string;
  readonly failure?: FormFailure | undefined;
  readonly status?: number;
}

async function showUsers(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  application: Application,
  { email = "", fault, failure, status }: Shown = {},
): Promise<void> {
  const { organisation } = visit;
  const { values } = parseQuery(visit.request);
  const after = readCursor(values.get("after"));
  const key = { orgId: organisation.id, applicationId: application.id };
  const { shown, last } = splitPage(
    await listAssignedUsers(deps.database.query, key, { limit: ROWS_PER_PAGE, after }),
  );
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const actors = shown.map(({ assignedBy }) => assignedBy);
  const actorName = await loadActorLabels(deps, organisation.id, actors, frame.messages);
  const uri = applicationPath(organisation, application.id, "/users");
  const page = usersPage({
    ...frame,
    breadcrumbs: recordCrumbs(organisation, application, frame.messages),
    application,
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: uri,
    settingsUri: applicationPath(organisation, application.id, "/settings#card-signIn-title"),
    users: shown.map((user) => ({
      ...user,
      assignedBy: actorName(user.assignedBy),
      uri: consolePath(organisation, `/users/${user.id}`),
      takeOffUri: `${uri}/${user.id}/take-off`,
    })),
    newestUri: after && uri,
    olderUri: last && `${uri}?after=${last.id}`,
    done: values.get("done"),
    ...{ email, fault, failure },
  });
  await show(visit, frame, page, status);
}

const MAX_EMAIL_LETTERS = 254;

async function assign(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  requireId(visit);
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const application = await requireApplication(deps, visit);
  const email = (form.values.get("email") ?? "").trim().slice(0, MAX_EMAIL_LETTERS);
  if (form.outcome === "rejected")
    return showUsers(deps, visit, signedIn, application, { email, ...form.refusal });

  const account = await findSignInAccount(deps.database.query, organisation.id, emailKey(email));
  const assignment = account && {
    ...auditContext(visit, signedIn),
    applicationId: application.id,
    userId: account.user.id,
  };
  const result = assignment ? await assignUser(deps, assignment) : "no-user";
  if (result === "no-user") {
    const { users } = pageMessages(visit, signedIn).console.applications;
    const fault = users.unknown({ organisation: organisation.name });
    return showUsers(deps, visit, signedIn, application, { email, fault, status: 400 });
  }
  await redirectTo(visit, `${requestPath(visit)}?done=${result === false ? ALREADY_APPLIED : "assigned"}`);
}

interface Assignment {
  readonly application: Application;
  readonly user: { readonly id: string; readonly email: string };
  readonly isAssigned: boolean;
}

const unassignment: Confirmation<ConsoleDeps, Assignment> = {
  current: "applications",
  load: async ({ database }, { id: orgId }, { id = "", user: userId = "" }) => {
    const db = database.query;
    const application = await findApplication(db, orgId, id);
    const user = application && (await findUser(db, orgId, userId));
    if (!user) return undefined;
    return { application, user, isAssigned: await isAssigned(db, { orgId, applicationId: id, userId }) };
  },
  backUri: (organisation, { application }) => applicationPath(organisation, application.id, "/users"),
  isDone: (_, assignment) => !assignment.isAssigned,
  question: (messages, { application, user }, organisation) => {
    const { users } = messages.console.applications;
    const isRestricted = application.settings.access === "assigned";
    return {
      heading: users.unassignHeading({ email: user.email, application: application.name }),
      text: html`<p>${isRestricted ? users.unassignText({ application: application.name }) : users.unassignUnrestricted({ application: application.name })}</p>`,
      confirm: users.unassign,
      confirmId: "user-take-off",
      breadcrumbs: recordCrumbs(organisation, application, messages),
    };
  },
  apply: async (deps, acting, { application, user }, { organisation }) => {
    const removed = { ...acting, applicationId: application.id, userId: user.id };
    if (!(await unassignUser(deps, removed))) return alreadyApplied;
    return applied(applicationPath(organisation, application.id, "/users?done=takenOff"));
  },
};
