/** Creating, changing and deleting a role. */
import type { FastifyInstance } from "fastify";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { lockRole } from "../../../core/roles/roles.store.ts";
import { changeRole, createRole, deleteRole } from "../../../core/roles/roles.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { NotFound } from "../../../http/errors.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consolePath,
  consoleRoute,
  redirectTo,
  requireId,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import { roleFormPage } from "./role.page.ts";
import {
  emptyRole,
  type RoleInput,
  readRoleInput,
  roleFaults,
  toRoleContent,
  toRoleInput,
} from "./role-input.ts";
import { type ApplicationRole, type RolesDeps, rolePages } from "./role-pages.ts";

export function roleRoutes(app: FastifyInstance, deps: RolesDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/roles/new", {
    get: showNewRole,
    post: createFromForm,
  });
  editRoute(app, deps, "/oauth/manage/:org/roles/:id/edit", edit);
  confirmationRoute(app, deps, "/oauth/manage/:org/roles/:id/delete", deletion);
}

/** The address names the application. @throws NotFound */
async function requireApplication({ database }: RolesDeps, visit: Visit) {
  const application = await findApplication(database.query, visit.organisation.id, requireId(visit));
  if (!application) throw new NotFound("application");
  return { applicationId: application.id, applicationName: application.name };
}

async function showNewRole(deps: RolesDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: emptyRole });
}

async function showForm(deps: RolesDeps, visit: Visit, signedIn: SignedIn, shown: FormShown<RoleInput>) {
  const application = await requireApplication(deps, visit);
  await showFormPage(deps, visit, signedIn, "applications", shown, (view) => roleFormPage(view, application));
}

async function createFromForm(deps: RolesDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const { applicationId } = await requireApplication(deps, visit);
  const input = readRoleInput(form.values);
  const rerender = (shown: Partial<FormShown<RoleInput>>) =>
    showForm(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const content = toRoleContent(input);
  const wanted = { ...auditContext(visit, signedIn), applicationId, key: input.key, content };
  try {
    const created = await applyOnce(deps, form, (inside) => createRole(inside, wanted));
    if (created === "duplicate-submission") {
      const uri = rolesPath(visit.organisation, applicationId);
      return await rerender(duplicateSubmission({ result: { label: messages.console.roles.title, uri } }));
    }
    await redirectTo(visit, rolePages.path(visit.organisation, created.id, "?done=created"));
  } catch (error) {
    const faults = roleFaults(error, messages);
    if (!faults) throw error;
    await rerender({ state: { faults }, status: 400 });
  }
}

const rolesPath = (organisation: Visit["organisation"], applicationId: string, rest = ""): string =>
  consolePath(organisation, `/applications/${applicationId}/roles${rest}`);

const edit: EditForm<RolesDeps, ApplicationRole, RoleInput, RoleInput> = {
  current: "applications",
  load: rolePages.require,
  lock: lockRole,
  version: ({ version }) => version,
  toInput: toRoleInput,
  readInput: ({ values }, { record: { key } }) => ({ ...readRoleInput(values), key }),
  toDisplay: (input) => input,
  page: (view, { record }) => roleFormPage(view, record, record),
  validate: (input) => ({ content: input }),
  save: async (inside, input, { visit, acting, record: { id } }) => {
    await changeRole(inside, { ...acting, id, content: toRoleContent(input) });
    return rolePages.path(visit.organisation, id, "?done=saved");
  },
  explain: (error, { messages }) => {
    const faults = roleFaults(error, messages);
    return faults && { faults };
  },
};

const deletion: Confirmation<RolesDeps, ApplicationRole> = {
  ...aboutRecord(rolePages, (role: ApplicationRole) => role),
  load: rolePages.find,
  question: ({ console: { roles: text } }, { name }) => ({
    heading: text.deleteTitle({ name }),
    text: text.deleteText,
    confirm: text.deleteSubmit,
    confirmId: "role-delete-confirm",
    name,
  }),
  apply: async (deps, acting, { id, applicationId }, { organisation }) =>
    (await deleteRole(deps, { ...acting, id }))
      ? applied(rolesPath(organisation, applicationId, "?done=roleDeleted"))
      : alreadyApplied,
};
