/** scopes/{id}/edit: everything of a custom scope except its name. */
import type { FastifyInstance } from "fastify";
import { changeCustomScope } from "../../../core/scopes/custom-scopes.ts";
import { lockCustomScope } from "../../../core/scopes/scopes.store.ts";
import { InvalidScope } from "../../../core/scopes/validation.ts";
import { editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { requireScope } from "./find-scope.ts";
import { scopeFormPage } from "./scope.page.ts";
import {
  displayClaims,
  readScopeInput,
  scopeFaults,
  toContent,
  toScopeInput,
  withEmptyRow,
} from "./scope-input.ts";

export function editScopeRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/scopes/:id/edit", {
    current: "scopes",
    load: requireScope,
    lock: lockCustomScope,
    version: ({ version }) => version,
    toInput: toScopeInput,
    readInput: ({ values }, { record: { name } }) => ({ ...readScopeInput(values), name }),
    toDisplay: ({ displayName, description, sensitive, claims }, { messages }) => ({
      displayName,
      description,
      sensitive: sensitive ? messages.console.frame.yes : messages.console.frame.no,
      claims: displayClaims(
        claims.filter(({ name }) => name !== ""),
        messages,
      ),
    }),
    page: (view, { record }) => scopeFormPage({ ...view, before: record, input: withEmptyRow(view.input) }),
    previewButton: "add",
    validate: (input) => ({ content: toContent(input) }),
    save: async (inside, content, { visit: { organisation }, acting, record: { id } }) => {
      await changeCustomScope(inside, { ...acting, id, content });
      return consolePath(organisation, `/scopes/${id}?done=saved`);
    },
    explain: (error, { messages }) =>
      error instanceof InvalidScope ? { faults: scopeFaults(error.faults, messages) } : undefined,
  });
}
