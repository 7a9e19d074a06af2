/** roles/{id}/assignments: who has the role; giving it, and taking it away. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import {
  type Assignment,
  findAssignment,
  listAssignments,
  type SubjectType,
  subjectTypes,
} from "../../../core/roles/assignments.store.ts";
import { assignRole, unassignRole } from "../../../core/roles/assignments.ts";
import { InvalidRole, RoleConflict } from "../../../core/roles/role.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { listMembers } from "../../../core/users/members/members.store.ts";
import { formNotice } from "../../../html/components/form-page.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import { loadActorLabels } from "../../../page-kit/actor-names.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { ALREADY_APPLIED, consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import { pageUris, ROWS_PER_PAGE, readCursor, splitPage } from "../../../page-kit/list-page.ts";
import {
  auditContext,
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
import { showInTab } from "../../../page-kit/record-tabs.ts";
import { roles as userRoles } from "../users/user-pages.ts";
import {
  type AssignmentInput,
  assignmentLabels,
  assignmentsContent,
  holdersContent,
} from "./assignments.page.ts";
import { type RolesDeps, rolePages, type ShownRole } from "./role-pages.ts";
import { ASSIGNMENTS, roleRecord } from "./role-record.ts";
import { findSubjectNames, findTypedSubject } from "./subjects.store.ts";

export function roleAssignmentsRoutes(app: FastifyInstance, deps: RolesDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/roles/:id/assignments", { get: showTab, post: assign });
  confirmationRoute(app, deps, "/oauth/manage/:org/roles/:id/assignments/:assignment/remove", removal);
}

async function showTab(deps: RolesDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireAdministrator(deps, visit);
  const role = await rolePages.require(deps, visit);
  if (role.builtIn) return showHolders(deps, visit, { signedIn, role });
  await showAssignments(deps, visit, { signedIn, role }, { input: { subjectType: "user", subject: "" } });
}

/** Of a built-in role: the users whose own role it is, on the list that changes it. */
async function showHolders(
  deps: RolesDeps,
  visit: Visit,
  { signedIn, role }: { signedIn: SignedIn; role: ShownRole },
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "roles");
  const given = userRoles.find((one) => one === role.key);
  const filter = given === undefined ? undefined : { role: given };
  const query = { filter: filter ?? {}, limit: ROWS_PER_PAGE };
  const users = filter ? await listMembers(deps.database.query, visit.organisation.id, query) : [];
  const body = await showInTab(deps, visit, roleRecord, {
    ...{ tab: "assignments", frame, stored: role, signedIn },
    content: () => holdersContent({ ...frame, role, users }),
  });
  await show(visit, frame, body);
}

async function showAssignments(
  deps: RolesDeps,
  visit: Visit,
  { signedIn, role }: { signedIn: SignedIn; role: ShownRole },
  shown: FormShown<AssignmentInput>,
): Promise<void> {
  const db = deps.database.query;
  const { id: orgId } = visit.organisation;
  const after = readCursor(parseQuery(visit.request).values.get("after"));
  const last = after === undefined ? undefined : await findAssignment(db, { orgId, id: after });
  const rows = await listAssignments(db, orgId, {
    ...{ of: { roleId: role.id }, limit: ROWS_PER_PAGE + 1, isDescending: false },
    ...(last?.roleId === role.id && { after: { value: last.createdAt, id: last.id } }),
  });
  const page = splitPage(rows);
  const names = await findSubjectNames(db, orgId, page.shown);
  const view = await formView(deps, visit, signedIn, "roles", shown, {});
  const { messages, action } = view;
  const creators = page.shown.map(({ createdBy }) => createdBy);
  const actorName = await loadActorLabels(deps, orgId, creators, messages, true);
  const uri = (id?: string) => (id === undefined ? action : `${action}?after=${id}`);
  const body = await showInTab(deps, visit, roleRecord, {
    ...{ tab: "assignments", frame: view, stored: role, signedIn },
    content: () =>
      assignmentsContent({
        ...view,
        ...pageUris(uri, last?.id, page.last?.id),
        assignments: page.shown.map((one) => ({
          ...one,
          name: names.get(one.subjectId) ?? one.subjectId,
          by: actorName(one.createdBy),
        })),
      }),
    notice: formNotice({ ...view, labels: assignmentLabels(messages) }),
    faults: Object.keys(shown.state?.faults ?? {}).length,
  });
  await show(visit, view, body, shown.status);
}

const MAX_LETTERS = 254;

const isSubjectType = (text: string): text is SubjectType =>
  (subjectTypes as readonly string[]).includes(text);

async function assign(deps: RolesDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const role = await rolePages.require(deps, visit);
  // A user's own role gives it.
  if (role.builtIn) throw new NotFound("assignments");
  const type = values.get("subjectType") ?? "";
  const subjectType = isSubjectType(type) ? type : "user";
  const text = (values.get("subject") ?? "").trim().slice(0, MAX_LETTERS);
  const rerender = (shown: Partial<FormShown<AssignmentInput>>) =>
    showAssignments(deps, visit, { signedIn, role }, { input: { subjectType, subject: text }, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const { faults } = pageMessages(visit, signedIn).console.roles.assignments;
  const { id: orgId } = visit.organisation;
  const found = await findTypedSubject(deps.database.query, orgId, { subjectType, text });
  if (found === undefined || found === "several") {
    const fault = found === undefined ? faults.unknown : faults.several;
    return rerender({ state: { faults: { subject: fault } }, status: 400 });
  }
  try {
    await assignRole(deps, { ...auditContext(visit, signedIn), ...found, role: { roleId: role.id } });
    await redirectTo(visit, `${requestPath(visit)}?done=assigned`);
  } catch (error) {
    if (error instanceof RoleConflict && error.code === "already-assigned")
      return redirectTo(visit, `${requestPath(visit)}?done=${ALREADY_APPLIED}`);
    // Deleted meanwhile.
    if (!(error instanceof InvalidRole)) throw error;
    await rerender({ state: { faults: { subject: faults.unknown } }, status: 400 });
  }
}

interface Removal {
  readonly role: ShownRole;
  readonly assignment: Assignment;
  readonly name: string;
}

const removal: Confirmation<RolesDeps, Removal> = {
  ...aboutRecord(rolePages, ({ role }: Removal) => role, ASSIGNMENTS),
  load: async (deps, organisation, { assignment: id = "", ...params }) => {
    const role = await rolePages.find(deps, organisation, params);
    if (!role || !isUuid(id)) return undefined;
    const db = deps.database.query;
    const assignment = await findAssignment(db, { orgId: organisation.id, id: id.toLowerCase() });
    if (assignment?.roleId !== role.id) return undefined;
    const names = await findSubjectNames(db, organisation.id, [assignment]);
    return { role, assignment, name: names.get(assignment.subjectId) ?? assignment.subjectId };
  },
  question: ({ console: { roles } }, { role, name }) => {
    const { assignments: text } = roles;
    return {
      heading: text.removeHeading({ name, title: role.name }),
      text: text.removeText,
      confirm: text.remove,
      confirmId: "assignment-remove-confirm",
    };
  },
  apply: async (deps, acting, { assignment: { id } }) =>
    (await unassignRole(deps, { ...acting, id })) ? done("unassigned") : alreadyApplied,
};
