/** scopes/{id}/edit: all of a custom scope but its name. */
import type { FastifyInstance } from "fastify";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { changeCustomScope } from "../../../core/scopes/custom-scopes.ts";
import { holdCustomScope } from "../../../core/scopes/scopes.store.ts";
import { InvalidScope } from "../../../core/scopes/validation.ts";
import { editForm } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath, type Visit } from "../../../page-kit/visit.ts";
import { scopeFormPage } from "./scope.page.ts";
import { claimsInWords, contentOf, readScope, scopeFaults, typedScope, withEmptyRow } from "./scope-form.ts";
import { scopeHere } from "./scope-visit.ts";

const scopePath = ({ organisation }: Visit, { id }: CustomScope): string =>
  consolePath(organisation, `/scopes/${id}`);

export function editScopeRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  editForm(app, deps, {
    path: "/scopes/:id/edit",
    current: "scopes",
    find: scopeHere,
    hold: holdCustomScope,
    seenIn: ({ version }) => version,
    typedOf: typedScope,
    read: ({ values }, { found: { name } }) => ({ ...readScope(values), name }),
    inWords: ({ displayName, description, sensitive, claims }, { messages }) => ({
      displayName,
      description,
      sensitive: sensitive ? messages.console.frame.yes : messages.console.frame.no,
      claims: claimsInWords(
        claims.filter(({ name }) => name !== ""),
        messages,
      ),
    }),
    page: (view, { visit, found }) =>
      scopeFormPage({
        ...view,
        before: found,
        typed: withEmptyRow(view.typed),
        listUri: consolePath(visit.organisation, "/scopes"),
        backUri: scopePath(visit, found),
      }),
    again: "add",
    contentOf: (typed) => ({ content: contentOf(typed) }),
    keep: async (inside, content, { visit, acting, found }) => {
      await changeCustomScope(inside, { ...acting, id: found.id, content });
      return `${scopePath(visit, found)}?done=saved`;
    },
    refused: (error, { messages }) =>
      error instanceof InvalidScope ? { faults: scopeFaults(error.faults, messages) } : undefined,
  });
}
