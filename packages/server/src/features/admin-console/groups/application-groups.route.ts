/** applications/{id}/groups: the groups whose members may use it; assigning one, and unassigning it. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { listAssignedGroups } from "../../../core/application-access/application-access.store.ts";
import { assignGroup, unassignGroup } from "../../../core/application-access/application-access.ts";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { type CountedGroup, findGroup } from "../../../core/groups/groups.store.ts";
import type { RecordDeps } from "../../../core/record-changes.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { ALREADY_APPLIED, pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import { pageUris, ROWS_PER_PAGE, readCursor, splitPage } from "../../../page-kit/list-page.ts";
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
import { findTypedSubject } from "../roles/subjects.store.ts";
import { type GroupAccessInput, groupAccessPage } from "./application-groups.page.ts";

type Deps = ConsoleDeps & RecordDeps;

export function applicationGroupsRoutes(app: FastifyInstance, deps: Deps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/groups", { get: showGroups, post: assign });
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/groups/:group/take-off", unassignment);
}

/** @throws NotFound */
async function requireApplication({ database }: Deps, visit: Visit): Promise<Application> {
  const application = await findApplication(database.query, visit.organisation.id, requireId(visit));
  if (!application) throw new NotFound("application");
  return application;
}

async function showGroups(deps: Deps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireAdministrator(deps, visit);
  const application = await requireApplication(deps, visit);
  await showPage(deps, visit, { signedIn, application }, { input: { group: "" } });
}

async function showPage(
  deps: Deps,
  visit: Visit,
  { signedIn, application }: { signedIn: SignedIn; application: Application },
  shown: FormShown<GroupAccessInput>,
): Promise<void> {
  const { values } = parseQuery(visit.request);
  const after = readCursor(values.get("after"));
  const key = { orgId: application.orgId, applicationId: application.id };
  const rows = await listAssignedGroups(deps.database.query, key, { limit: ROWS_PER_PAGE, after });
  const { shown: groups, last } = splitPage(rows);
  const view = await formView(deps, visit, signedIn, "applications", shown, {});
  const uri = (id?: string) => (id === undefined ? view.action : `${view.action}?after=${id}`);
  const pages = pageUris(uri, after, last?.id);
  const page = groupAccessPage({ ...view, ...pages, application, groups, done: values.get("done") });
  await show(visit, view, page, shown.status);
}

const MAX_LETTERS = 254;

async function assign(deps: Deps, visit: Visit): Promise<void> {
  requireId(visit);
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const application = await requireApplication(deps, visit);
  const group = (form.values.get("group") ?? "").trim().slice(0, MAX_LETTERS);
  const rerender = (shown: Partial<FormShown<GroupAccessInput>>) =>
    showPage(deps, visit, { signedIn, application }, { input: { group }, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const { id: orgId } = visit.organisation;
  const { faults } = pageMessages(visit, signedIn).console.groups.access;
  const found = await findTypedSubject(deps.database.query, orgId, { subjectType: "group", text: group });
  if (found === "several") return rerender({ state: { faults: { group: faults.several } }, status: 400 });
  const wanted = found && {
    ...auditContext(visit, signedIn),
    ...{ applicationId: application.id, groupId: found.subjectId },
  };
  const result = wanted ? await assignGroup(deps, wanted) : "no-group";
  if (result === "no-group") return rerender({ state: { faults: { group: faults.unknown } }, status: 400 });
  await redirectTo(visit, `${requestPath(visit)}?done=${result === false ? ALREADY_APPLIED : "assigned"}`);
}

interface Assignment {
  readonly application: Application;
  readonly group: CountedGroup;
}

const unassignment: Confirmation<Deps, Assignment> = {
  current: "applications",
  load: async (deps, organisation, { id = "", group: groupId = "" }) => {
    if (!isUuid(id) || !isUuid(groupId)) return undefined;
    const db = deps.database.query;
    const application = await findApplication(db, organisation.id, id.toLowerCase());
    const group = await findGroup(db, { orgId: organisation.id, id: groupId.toLowerCase() });
    return application && group && { application, group };
  },
  backUri: (organisation, { application: { id } }) => consolePath(organisation, `/applications/${id}/groups`),
  question: ({ console: { groups } }, { application: { name: application }, group: { displayName } }) => {
    const { access: text } = groups;
    return {
      heading: text.unassignHeading({ group: displayName, application }),
      text: text.unassignText({ application }),
      confirm: text.unassign,
      confirmId: "group-take-off",
    };
  },
  apply: async (deps, acting, { application, group }) =>
    (await unassignGroup(deps, { ...acting, applicationId: application.id, groupId: group.id }))
      ? done("unassigned")
      : alreadyApplied,
};
