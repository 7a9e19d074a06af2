/** scopes/{id}: one custom scope; scopes/new: creating one. */
import type { FastifyInstance } from "fastify";
import { createCustomScope, ScopeConflict } from "../../../core/scopes/custom-scopes.ts";
import { InvalidScope } from "../../../core/scopes/validation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { consoleFrame, doneKey, pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  requireAdministrator,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { requireScope } from "./find-scope.ts";
import { scopeFormPage, scopePage } from "./scope.page.ts";
import {
  emptyScope,
  readScopeInput,
  type ScopeInput,
  scopeFaults,
  toContent,
  withEmptyRow,
} from "./scope-input.ts";
import { applicationsAllowing } from "./scopes.store.ts";

export function scopeRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/scopes/new", { get: showNewScope, post: createFromForm });
  consoleRoute(app, deps, "/oauth/manage/:org/scopes/:id", { get: showScope });
}

async function showScope(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const signedIn = await requireAdministrator(deps, visit);
  const scope = await requireScope(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "scopes");
  const applications = await applicationsAllowing(deps.database.query, organisation.id, scope.name);
  const page = scopePage({
    ...frame,
    scope,
    usedBy: applications.map(({ id, name }) => ({
      name,
      uri: consolePath(organisation, `/applications/${id}`),
    })),
    lastChange: await findLastChange(deps, organisation.id, scope.id, frame.messages),
    done: doneKey(visit, frame.messages.console.scopes.done),
  });
  await show(visit, frame, page);
}

async function showNewScope(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: emptyScope });
}

async function showForm(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  shown: FormShown<ScopeInput>,
): Promise<void> {
  const view = await formView(deps, visit, signedIn, "scopes", shown);
  await show(visit, view, scopeFormPage({ ...view, before: undefined }), shown.status);
}

async function createFromForm(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const input = readScopeInput(values);
  const rerender = (shown: Partial<FormShown<ScopeInput>>) =>
    showForm(deps, visit, signedIn, { input: withEmptyRow(input), ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  if (values.has("add")) return rerender({});

  const listUri = consolePath(visit.organisation, "/scopes");
  const messages = pageMessages(visit, signedIn);
  const wanted = { ...auditContext(visit, signedIn), name: input.name, ...toContent(input) };
  try {
    const created = await applyOnce(deps, form, (inside) => createCustomScope(inside, wanted));
    if (created === "duplicate-submission") {
      const made = { label: messages.console.frame.pages.scopes, uri: listUri };
      return rerender(duplicateSubmission({ made }));
    }
    await redirectTo(visit, `${listUri}/${created.id}?done=created`);
  } catch (error) {
    await rerender({ state: { faults: explainFaults(error, messages) }, status: 400 });
  }
}

/** @throws every error that is not about what was typed */
function explainFaults(error: unknown, messages: Messages): Record<string, string> {
  if (error instanceof InvalidScope) return scopeFaults(error.faults, messages);
  if (!(error instanceof ScopeConflict) || error.code !== "name-taken") throw error;
  return { name: messages.console.scopes.faults["name-taken"] };
}
