/** Creating, changing and deleting a custom scope. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import {
  changeCustomScope,
  createCustomScope,
  deleteCustomScope,
  ScopeConflict,
} from "../../../core/scopes/custom-scopes.ts";
import { type CountedUses, findScopeUses } from "../../../core/scopes/scope-uses.store.ts";
import { findCustomScope, lockCustomScope } from "../../../core/scopes/scopes.store.ts";
import { InvalidScope } from "../../../core/scopes/validation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
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
import { aboutRecord, recordPages } from "../../../page-kit/record-pages.ts";
import { losingUses, MAX_NAMED, scopeFormPage } from "./scope.page.ts";
import {
  displayClaims,
  emptyScope,
  readScopeInput,
  type ScopeInput,
  scopeFaults,
  toContent,
  toScopeInput,
  withEmptyRow,
} from "./scope-input.ts";
import { assignResource, resourceChoices } from "./scope-resource.ts";

export function scopeRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/scopes/new", { get: showNewScope, post: createFromForm });
  editRoute(app, deps, "/oauth/manage/:org/scopes/:id/edit", edit(deps));
  confirmationRoute(app, deps, "/oauth/manage/:org/scopes/:id/delete", deletion);
}

export const scopePages = recordPages("scopes", "/scopes", findCustomScope, ({ name }) => name);

async function showNewScope(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: emptyScope });
}

const showForm = (deps: ConsoleDeps, visit: Visit, signedIn: SignedIn, shown: FormShown<ScopeInput>) =>
  showFormPage(deps, visit, signedIn, "scopes", shown, async (view) =>
    scopeFormPage(view, await resourceChoices(deps, visit.organisation.id, view.messages)),
  );

async function createFromForm(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const input = readScopeInput(values);
  const rerender = (shown: Partial<FormShown<ScopeInput>>) =>
    showForm(deps, visit, signedIn, { input: withEmptyRow(input), ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  if (values.has("add")) return rerender({});

  const uri = consolePath(visit.organisation, "/scopes");
  const messages = pageMessages(visit, signedIn);
  const wanted = { ...auditContext(visit, signedIn), name: input.name, ...toContent(input) };
  try {
    const created = await applyOnce(deps, form, async (inside) => {
      const scope = await createCustomScope(inside, wanted);
      await requireResource(inside, wanted, scope, input);
      return scope;
    });
    if (created === "duplicate-submission")
      return rerender(duplicateSubmission({ result: { label: messages.console.frame.pages.scopes, uri } }));
    await redirectTo(visit, `${uri}/${created.id}?done=created`);
  } catch (error) {
    await rerender({ state: { faults: explainFaults(error, messages) }, status: 400 });
  }
}

/** What was chosen is gone meanwhile: nothing is saved. */
class NoSuchResource extends Error {}

/** @throws NoSuchResource, InvalidResource */
async function requireResource(
  inside: ConsoleDeps,
  acting: ReturnType<typeof auditContext>,
  scope: CustomScope,
  { resourceId }: Pick<ScopeInput, "resourceId">,
): Promise<void> {
  const isThere = resourceId === "" || isUuid(resourceId);
  if (!isThere || !(await assignResource(inside, acting, scope, resourceId))) throw new NoSuchResource();
}

/** @throws every error that is not about what was typed */
function explainFaults(error: unknown, messages: Messages): Record<string, string> {
  if (error instanceof NoSuchResource) return { resourceId: messages.console.scopes.faults.resource };
  if (error instanceof InvalidScope) return scopeFaults(error.faults, messages);
  if (!(error instanceof ScopeConflict) || error.code !== "name-taken") throw error;
  return { name: messages.console.scopes.faults["name-taken"] };
}

/** Everything but the name. */
const edit = (deps: ConsoleDeps): EditForm<ConsoleDeps, CustomScope, ScopeInput, ScopeInput> => ({
  current: "scopes",
  load: scopePages.require,
  // The organisation first, as resources take it before their scopes.
  lock: async (tx, scope) => {
    await lockOrganisation(tx, scope.orgId);
    await lockCustomScope(tx, scope);
  },
  version: ({ version, resourceId }) => [version, resourceId],
  toInput: toScopeInput,
  readInput: ({ values }, { record: { name } }) => ({ ...readScopeInput(values), name }),
  toDisplay: ({ displayName, description, sensitive, claims, resourceId }, { messages }) => ({
    displayName,
    resourceId: resourceId === "" ? messages.console.scopes.noResource : resourceId,
    description,
    sensitive: sensitive ? messages.console.frame.yes : messages.console.frame.no,
    claims: displayClaims(
      claims.filter(({ name }) => name !== ""),
      messages,
    ),
  }),
  page: async (view, { record }) =>
    scopeFormPage(
      { ...view, input: withEmptyRow(view.input) },
      await resourceChoices(deps, record.orgId, view.messages),
      record,
    ),
  previewButton: "add",
  validate: (input) => ({ content: input }),
  save: async (inside, input, { visit: { organisation }, acting, record }) => {
    await changeCustomScope(inside, { ...acting, id: record.id, content: toContent(input) });
    await requireResource(inside, acting, record, input);
    return scopePages.path(organisation, record.id, "?done=saved");
  },
  explain: (error, { messages }) =>
    error instanceof InvalidScope || error instanceof NoSuchResource
      ? { faults: explainFaults(error, messages) }
      : undefined,
});

interface UsedScope {
  readonly scope: CustomScope;
  readonly uses: CountedUses;
}

export const deletion: Confirmation<ConsoleDeps, UsedScope> = {
  ...aboutRecord(scopePages, ({ scope }: UsedScope) => scope),
  load: async (deps, organisation, params) => {
    const scope = await scopePages.find(deps, organisation, params);
    if (!scope) return undefined;
    return { scope, uses: await findScopeUses(deps.database.query, scope, MAX_NAMED) };
  },
  question: ({ console: { scopes: text } }, { scope, uses }, organisation) => {
    const consoleUri = (rest: string) => consolePath(organisation, rest);
    return {
      heading: text.deleteTitle({ name: scope.name }),
      text: [html`<p>${text.deleteText}</p>`, losingUses({ uses, consoleUri, text })],
      confirm: text.deleteSubmit,
      confirmId: "scope-delete-confirm",
      name: scope.name,
    };
  },
  apply: async (deps, acting, { scope: { id, version } }, { organisation, messages }) => {
    try {
      await deleteCustomScope(deps, { ...acting, id, version });
      return applied(consolePath(organisation, "/scopes?done=deleted"));
    } catch (error) {
      if (!(error instanceof ScopeConflict)) throw error;
      const { title, text } = messages.console.frame.changed;
      return { kind: "refused", title, text };
    }
  },
};
