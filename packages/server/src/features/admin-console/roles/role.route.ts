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
  pathParams,
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
import {
  organisationItself,
  type RoleOwner,
  type RolesDeps,
  rolePages,
  type ShownRole,
} from "./role-pages.ts";
import { findTypedSubject } from "./subjects.store.ts";

export function roleRoutes(app: FastifyInstance, deps: RolesDeps): void {
  const creation = { get: showNewRole, post: createFromForm };
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/roles/new", creation);
  consoleRoute(app, deps, "/oauth/manage/:org/roles/new", creation);
  editRoute(app, deps, "/oauth/manage/:org/roles/:id/edit", edit);
  confirmationRoute(app, deps, "/oauth/manage/:org/roles/:id/delete", deletion);
}

/** As the address says, where it names an application. @throws NotFound */
async function ownerInAddress({ database }: RolesDeps, visit: Visit): Promise<RoleOwner | undefined> {
  if (pathParams(visit)["id"] === undefined) return undefined;
  const application = await findApplication(database.query, visit.organisation.id, requireId(visit));
  if (!application) throw new NotFound("application");
  return { applicationId: application.id, applicationName: application.name };
}

async function showNewRole(deps: RolesDeps, visit: Visit): Promise<void> {
  if (pathParams(visit)["id"] !== undefined) requireId(visit);
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: emptyRole });
}

async function showForm(deps: RolesDeps, visit: Visit, signedIn: SignedIn, shown: FormShown<RoleInput>) {
  const owner = await ownerInAddress(deps, visit);
  await showFormPage(deps, visit, signedIn, "roles", shown, (view) => roleFormPage(view, owner));
}

/** @returns undefined for what is no application of the organisation; several for a name that more than one has */
async function typedOwner(
  { database }: RolesDeps,
  { organisation: { id: orgId } }: Visit,
  text: string,
): Promise<Pick<RoleOwner, "applicationId"> | "several" | undefined> {
  if (text === "") return organisationItself;
  const found = await findTypedSubject(database.query, orgId, { subjectType: "application", text });
  return found === undefined || found === "several" ? found : { applicationId: found.subjectId };
}

async function createFromForm(deps: RolesDeps, visit: Visit): Promise<void> {
  if (pathParams(visit)["id"] !== undefined) requireId(visit);
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const named = await ownerInAddress(deps, visit);
  const input = readRoleInput(form.values);
  const rerender = (shown: Partial<FormShown<RoleInput>>) =>
    showForm(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const { faults: texts } = messages.console.roles;
  const owner = named ?? (await typedOwner(deps, visit, input.application));
  if (owner === undefined || owner === "several") {
    const application = owner === "several" ? texts.several : texts.application;
    return rerender({ state: { faults: { application } }, status: 400 });
  }
  const { applicationId } = owner;
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

const rolesPath = (organisation: Visit["organisation"], applicationId: string | null, rest = ""): string =>
  consolePath(organisation, `${applicationId === null ? "" : `/applications/${applicationId}`}/roles${rest}`);

/** @throws NotFound for a built-in role, which nobody changes */
async function requireOwnRole(deps: RolesDeps, visit: Visit): Promise<ShownRole> {
  const role = await rolePages.require(deps, visit);
  if (role.builtIn) throw new NotFound("role");
  return role;
}

const edit: EditForm<RolesDeps, ShownRole, RoleInput, RoleInput> = {
  current: "roles",
  load: requireOwnRole,
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

export const deletion: Confirmation<RolesDeps, ShownRole> = {
  ...aboutRecord(rolePages, (role: ShownRole) => role),
  load: async (deps, organisation, params) => {
    const role = await rolePages.find(deps, organisation, params);
    return role?.builtIn ? undefined : role;
  },
  question: ({ console: { roles: text } }, { name }) => ({
    heading: text.deleteTitle({ name }),
    text: text.deleteText,
    confirm: text.deleteSubmit,
    confirmId: "role-delete-confirm",
    name,
  }),
  apply: async (deps, acting, { id, applicationId }, { organisation }) =>
    (await deleteRole(deps, { ...acting, id }))
      ? applied(
          rolesPath(
            organisation,
            applicationId,
            `?done=${applicationId === null ? "deleted" : "roleDeleted"}`,
          ),
        )
      : alreadyApplied,
};
