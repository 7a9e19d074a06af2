/** Users assigned to an application: listed, added by email address, removed. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { isAssigned, listAssignedUsers } from "../../../core/application-access/application-access.store.ts";
import { assignUser, unassignUser } from "../../../core/application-access/application-access.ts";
import type { Application } from "../../../core/applications/application.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount, findUser } from "../../../core/users/users.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { textField } from "../../../html/components/fields.ts";
import { fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { toast, type Undo } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import { loadActorLabels } from "../../../page-kit/actor-names.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { ALREADY_APPLIED, pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import { listCard } from "../../../page-kit/list/list-route.ts";
import { pageUris, ROWS_PER_PAGE, readCursor, splitPage } from "../../../page-kit/list-page.ts";
import {
  auditContext,
  type ConsoleDeps,
  consoleRoute,
  redirectTo,
  requestPath,
  requireAdministrator,
  requireId,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import { applicationPages } from "./application-pages.ts";
import { settingPath } from "./record-tabs.ts";

export function applicationUsersRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/users", { get: listUsers, post: assign });
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/users/:user/take-off", unassignment);
}

type AssignInput = { email: string };

async function listUsers(deps: ConsoleDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireAdministrator(deps, visit);
  const application = await applicationPages.require(deps, visit);
  await showUsers(deps, visit, { signedIn, application }, { input: { email: "" } });
}

async function showUsers(
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, application }: { signedIn: SignedIn; application: Application },
  shown: FormShown<AssignInput>,
): Promise<void> {
  const { orgId, id: applicationId } = application;
  const { values } = parseQuery(visit.request);
  const after = readCursor(values.get("after"));
  const key = { orgId, applicationId };
  const rows = await listAssignedUsers(deps.database.query, key, { limit: ROWS_PER_PAGE, after });
  const { shown: users, last } = splitPage(rows);
  const view = await formView(deps, visit, signedIn, "applications", shown, {});
  const actors = users.map(({ assignedBy }) => assignedBy);
  const actorName = await loadActorLabels(deps, orgId, actors, view.messages, true);
  const pageUri = (id?: string) => (id === undefined ? view.action : `${view.action}?after=${id}`);
  const page = usersPage({
    ...view,
    ...pageUris(pageUri, after, last?.id),
    application,
    users: users.map((user) => ({ ...user, assignedBy: actorName(user.assignedBy) })),
    done: values.get("done"),
    takenOff: await findTakenOff(deps, application, values),
  });
  await show(visit, view, page, shown.status);
}

type UsersView = FormView<AssignInput> & {
  application: Application;
  users: ReadonlyArray<{ id: string; email: string; assignedAt: number; assignedBy: string }>;
  newestUri: string | undefined;
  olderUri: string | undefined;
  done: string | undefined;
  /** Who was just removed, and isn't assigned again yet. */
  takenOff: string | undefined;
};

function usersPage(view: UsersView): Html {
  const { messages, application, done } = view;
  const { users: text } = messages.console.applications;
  const isRestricted = application.settings.access === "assigned";
  const settingsUri = view.consoleUri(`/applications/${application.id}${settingPath("access")}`);
  const success = done === "assigned" ? text.assigned : done === "takenOff" ? text.unassigned : undefined;
  return consoleLayout({
    ...view,
    breadcrumbs: applicationPages.crumbs(view, application),
    title: text.title({ application: application.name }),
    heading: text.heading,
    summary: isRestricted ? text.restricted : text.unrestricted,
    notice:
      formNotice({ ...view, labels: { email: text.email } }) ??
      (success === undefined ? undefined : toast(success, view, assignAgain(view))),
    actions: !isRestricted && buttonLink({ id: "access-change", uri: settingsUri, label: text.change }),
    body: [assignCard(view), assignedCard(view)],
  });
}

/** Named by the address alone. @returns the email address of a user who can be assigned again */
async function findTakenOff(
  { database: { query } }: ConsoleDeps,
  { orgId, id: applicationId }: Application,
  values: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  const userId = values.get("user") ?? "";
  if (values.get("done") !== "takenOff" || !isUuid(userId)) return undefined;
  if (await isAssigned(query, { orgId, applicationId, userId })) return undefined;
  return (await findUser(query, orgId, userId))?.email;
}

function assignAgain({ takenOff, csrf, action, messages }: UsersView): { undo?: Undo } {
  if (takenOff === undefined) return {};
  const fields = [
    { name: "csrf", value: csrf },
    { name: "email", value: takenOff },
  ];
  return { undo: { action, label: messages.console.frame.undo, fields } };
}

function assignCard(view: UsersView): Html {
  const { users: text } = view.messages.console.applications;
  const field = fieldsOf(view, { email: text.email });
  return card({
    id: "assign",
    title: text.assignTitle,
    body: recordForm({
      ...view,
      isWide: false,
      id: "assign-form",
      fields: textField({ ...field("email"), type: "email", maxLength: MAX_EMAIL_LETTERS }),
      submit: { id: "assign-submit", label: text.assign },
    }),
  });
}

function assignedCard(view: UsersView): Html {
  const { messages } = view;
  const { users: text } = messages.console.applications;
  const rows = view.users.map(({ id, email, assignedAt, assignedBy }) => ({
    id: `user-${id}`,
    cells: [
      nameCell({ name: email, uri: view.consoleUri(`/users/${id}`) }),
      relativeTime(assignedAt, messages.format.day),
      html`<bdi>${assignedBy}</bdi>`,
    ],
    actions: rowLink({
      id: `user-take-off-${id}`,
      uri: `${view.action}/${id}/take-off`,
      text: text.unassign,
      label: text.unassignOf({ email }),
    }),
  }));
  const columns = [text.who, text.since, text.by];
  return listCard(
    text.list,
    html`${table({ label: text.list, columns, rows, none: text.none, messages })}${pagination(view)}`,
  );
}

const MAX_EMAIL_LETTERS = 254;

async function assign(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  requireId(visit);
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const application = await applicationPages.require(deps, visit);
  const email = (form.values.get("email") ?? "").trim().slice(0, MAX_EMAIL_LETTERS);
  const rerender = (shown: Partial<FormShown<AssignInput>>) =>
    showUsers(deps, visit, { signedIn, application }, { input: { email }, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const account = await findSignInAccount(deps.database.query, organisation.id, emailKey(email));
  const assignment = account && {
    ...auditContext(visit, signedIn),
    applicationId: application.id,
    userId: account.user.id,
  };
  const result = assignment ? await assignUser(deps, assignment) : "no-user";
  if (result === "no-user") {
    const { users } = pageMessages(visit, signedIn).console.applications;
    const faults = { email: users.unknown({ organisation: organisation.name }) };
    return rerender({ state: { faults }, status: 400 });
  }
  await redirectTo(visit, `${requestPath(visit)}?done=${result === false ? ALREADY_APPLIED : "assigned"}`);
}

interface Assignment {
  readonly application: Application;
  readonly user: { readonly id: string; readonly email: string };
  readonly isAssigned: boolean;
}

const unassignment: Confirmation<ConsoleDeps, Assignment> = {
  ...aboutRecord(applicationPages, ({ application }: Assignment) => application),
  load: async (deps, organisation, { user: userId = "", ...params }) => {
    const db = deps.database.query;
    const application = await applicationPages.find(deps, organisation, params);
    const user = application && (await findUser(db, organisation.id, userId));
    if (!user) return undefined;
    const key = { orgId: organisation.id, applicationId: application.id, userId };
    return { application, user, isAssigned: await isAssigned(db, key) };
  },
  backUri: (organisation, { application }) => applicationPages.path(organisation, application.id, "/users"),
  isDone: (_, assignment) => !assignment.isAssigned,
  question: ({ console: { applications } }, { application: { name, settings }, user: { email } }) => {
    const { users: text } = applications;
    const explain = settings.access === "assigned" ? text.unassignText : text.unassignUnrestricted;
    return {
      heading: text.unassignHeading({ email, application: name }),
      text: explain({ application: name }),
      confirm: text.unassign,
      confirmId: "user-take-off",
    };
  },
  apply: async (deps, acting, { application, user }) =>
    (await unassignUser(deps, { ...acting, applicationId: application.id, userId: user.id }))
      ? done(`takenOff&user=${user.id}`)
      : alreadyApplied,
};
