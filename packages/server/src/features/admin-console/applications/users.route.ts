/** Who may use an application whose access is for assigned users: listed, assigned by address, taken off. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { isAssigned, listAssignedUsers } from "../../../core/application-access/application-access.store.ts";
import { assignUser, unassignUser } from "../../../core/application-access/assignments.ts";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount, findUser } from "../../../core/users/users.store.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { html } from "../../../html/html.ts";
import { queryOf } from "../../../http/form-body.ts";
import { actorTexts } from "../../../page-kit/actor-names.ts";
import { confirmedActRoute, WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import { ALREADY, consoleFrame } from "../../../page-kit/console-frame.ts";
import { submission } from "../../../page-kit/submission.ts";
import {
  actingOn,
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  goTo,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import {
  applicationHere,
  applicationPath,
  applicationRest,
  idIn,
  recordCrumbs,
} from "./application-visit.ts";
import { usersPage } from "./users.page.ts";

const REST = "/users";
const ON_A_PAGE = 25;

export function applicationUsersRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, `/applications/:id${REST}`, {
    get: async (visit) => {
      const path = applicationPath(visit.organisation, idIn(visit), REST);
      const signedIn = await administratorHere(deps, visit, path);
      if (signedIn) await showUsers(deps, visit, signedIn, await applicationHere(deps, visit));
    },
    post: (visit) => assign(deps, visit),
  });
  takeOffRoute(app, deps);
}

interface Again {
  readonly email: string;
  readonly fault?: string;
  readonly failure?: FormFailure;
  readonly status: number;
}

async function showUsers(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  application: Application,
  again?: Again,
): Promise<void> {
  const { organisation } = visit;
  const { values } = queryOf(visit.request);
  const cursor = values.get("after") ?? "";
  const after = isUuid(cursor) ? cursor.toLowerCase() : undefined;
  const of = { orgId: organisation.id, applicationId: application.id };
  const rows = await listAssignedUsers(deps.database.query, of, { limit: ON_A_PAGE, after });
  const users = rows.slice(0, ON_A_PAGE);
  const last = rows.length > ON_A_PAGE ? users.at(-1) : undefined;
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const actors = users.map(({ assignedBy }) => assignedBy);
  const nameOf = await actorTexts(deps, organisation.id, actors, frame.messages);
  const uri = applicationPath(organisation, application.id, REST);
  const page = usersPage({
    ...frame,
    breadcrumbs: recordCrumbs(organisation, application, frame.messages),
    application,
    csrf: deps.door.formBinding(visit).csrf,
    action: uri,
    settingsUri: applicationPath(organisation, application.id, "/settings#card-signIn-title"),
    users: users.map((user) => ({
      ...user,
      assignedBy: nameOf(user.assignedBy),
      uri: consolePath(organisation, `/users/${user.id}`),
      takeOffUri: `${uri}/${user.id}/take-off`,
    })),
    newestUri: after && uri,
    olderUri: last && `${uri}?after=${last.id}`,
    done: values.get("done"),
    email: again?.email ?? "",
    fault: again?.fault,
    failure: again?.failure,
  });
  await show(visit, frame, page, again?.status ?? 200);
}

const MOST_LETTERS = 254;

async function assign(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const path = applicationPath(organisation, idIn(visit), REST);
  const typed = (values: ReadonlyMap<string, string>) =>
    (values.get("email") ?? "").trim().slice(0, MOST_LETTERS);
  const sent = await submission(deps, visit, path, async ({ signedIn, values }, kind) => {
    const again = { email: typed(values), failure: { kind }, status: 403 } as const;
    await showUsers(deps, visit, signedIn, await applicationHere(deps, visit), again);
  });
  if (!sent) return;
  const application = await applicationHere(deps, visit);
  const email = typed(sent.values);
  const found = await findSignInAccount(deps.database.query, organisation.id, emailKey(email));
  const wanted = found && {
    ...actingOn(visit, sent.signedIn),
    applicationId: application.id,
    userId: found.user.id,
  };
  const done = wanted ? await assignUser(deps, wanted) : "no-user";
  if (done === "no-user") {
    const frame = await consoleFrame(deps, visit, sent.signedIn, "applications");
    const fault = frame.messages.console.applications.users.unknown({ organisation: organisation.name });
    return showUsers(deps, visit, sent.signedIn, application, { email, fault, status: 400 });
  }
  await goTo(visit, `${path}?done=${done === false ? ALREADY : "assigned"}`);
}

interface Assignment {
  readonly application: Application;
  readonly user: { readonly id: string; readonly email: string };
  /** False when the user has been taken off before, or was never assigned. */
  readonly isThere: boolean;
}

function takeOffRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmedActRoute<Assignment>(app, deps, {
    path: "/applications/:id/users/:user/take-off",
    current: "applications",
    find: async ({ id: orgId }, { id = "", user: userId = "" }) => {
      const db = deps.database.query;
      const application = await findApplication(db, orgId, id);
      const user = application && (await findUser(db, orgId, userId));
      if (!user) return undefined;
      return { application, user, isThere: await isAssigned(db, { orgId, applicationId: id, userId }) };
    },
    overFor: ({ application, isThere }) => (isThere ? undefined : applicationRest(application.id, REST)),
    question: (messages, { application, user }, organisation) => {
      const { users } = messages.console.applications;
      const isRuled = application.settings.access === "assigned";
      return {
        heading: users.takeOffHeading({ email: user.email }),
        text: html`<p>${isRuled ? users.takeOffText({ application: application.name }) : users.takeOffNothing({ application: application.name })}</p>`,
        confirm: users.takeOff,
        confirmId: "user-take-off",
        breadcrumbs: recordCrumbs(organisation, application, messages),
        back: applicationRest(application.id, REST),
      };
    },
    act: async (acting, { application, user }) => {
      const list = applicationRest(application.id, REST);
      const taken = { ...acting, applicationId: application.id, userId: user.id };
      if (!(await unassignUser(deps, taken))) throw new WasSoAlready(list);
      return `${list}?done=takenOff`;
    },
  });
}
