/** Creating, changing and deleting a group. */
import type { FastifyInstance } from "fastify";
import { GroupConflict } from "../../../core/groups/group.ts";
import { type CountedGroup, lockGroup } from "../../../core/groups/groups.store.ts";
import { changeGroup, createGroup, deleteGroup } from "../../../core/groups/groups.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { applied, type Confirmation, confirmationRoute } from "../../../page-kit/confirmation.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import { groupFormPage } from "./group.page.ts";
import {
  emptyGroup,
  type GroupInput,
  groupFaults,
  readGroupInput,
  toGroupContent,
  toGroupInput,
} from "./group-input.ts";
import { groupPages } from "./group-pages.ts";

export function groupRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/groups/new", { get: showNewGroup, post: createFromForm });
  editRoute(app, deps, "/oauth/manage/:org/groups/:id/edit", edit);
  confirmationRoute(app, deps, "/oauth/manage/:org/groups/:id/delete", deletion);
}

async function showNewGroup(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: emptyGroup });
}

const showForm = (deps: ConsoleDeps, visit: Visit, signedIn: SignedIn, shown: FormShown<GroupInput>) =>
  showFormPage(deps, visit, signedIn, "groups", shown, groupFormPage);

async function createFromForm(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const input = readGroupInput(values);
  const rerender = (shown: Partial<FormShown<GroupInput>>) =>
    showForm(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const uri = consolePath(visit.organisation, "/groups");
  const messages = pageMessages(visit, signedIn);
  const wanted = { ...auditContext(visit, signedIn), content: toGroupContent(input) };
  try {
    const created = await applyOnce(deps, form, (inside) => createGroup(inside, wanted));
    if (created === "duplicate-submission")
      return rerender(duplicateSubmission({ result: { label: messages.console.frame.pages.groups, uri } }));
    await redirectTo(visit, `${uri}/${created.id}?done=created`);
  } catch (error) {
    const faults = groupFaults(error, messages);
    if (!faults) throw error;
    await rerender({ state: { faults }, status: 400 });
  }
}

const edit: EditForm<ConsoleDeps, CountedGroup, GroupInput, ReturnType<typeof toGroupContent>> = {
  current: "groups",
  load: groupPages.require,
  lock: lockGroup,
  version: ({ version }) => version,
  toInput: toGroupInput,
  readInput: ({ values }) => readGroupInput(values),
  toDisplay: (input) => input,
  page: (view, { record }) => groupFormPage(view, record),
  validate: (input) => ({ content: toGroupContent(input) }),
  save: async (inside, content, { visit: { organisation }, acting, record: { id } }) => {
    await changeGroup(inside, { ...acting, id, content });
    return groupPages.path(organisation, id, "?done=saved");
  },
  explain: (error, { messages }) => {
    const faults = groupFaults(error, messages);
    return faults && { faults };
  },
};

export const deletion: Confirmation<ConsoleDeps, CountedGroup> = {
  ...aboutRecord(groupPages, (group: CountedGroup) => group),
  load: groupPages.find,
  question: ({ console: { groups: text } }, { displayName: name }) => ({
    heading: text.deleteTitle({ name }),
    text: text.deleteText,
    confirm: text.deleteSubmit,
    confirmId: "group-delete-confirm",
    name,
  }),
  apply: async (deps, acting, { id }, { organisation, messages }) => {
    try {
      await deleteGroup(deps, { ...acting, id });
      return applied(consolePath(organisation, "/groups?done=deleted"));
    } catch (error) {
      if (!(error instanceof GroupConflict)) throw error;
      const { groups: text } = messages.console;
      return { kind: "refused", title: text.notDeleted, text: text.readOnly };
    }
  },
};
