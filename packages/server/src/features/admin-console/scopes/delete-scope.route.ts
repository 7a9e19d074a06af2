/** Deleting a scope: its name is typed, and the page says which applications may ask for it. */
import type { FastifyInstance } from "fastify";
import { deleteCustomScope, ScopeConflict } from "../../../core/scopes/custom-scopes.ts";
import { html } from "../../../html/html.ts";
import { confirmedActRoute } from "../../../page-kit/confirmed-act.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/visit.ts";
import { usedBy } from "./scope.page.ts";
import { findScopeAt } from "./scope-visit.ts";
import { applicationsAllowing } from "./scopes.store.ts";

export function deleteScopeRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmedActRoute(app, deps, {
    path: "/scopes/:id/delete",
    current: "scopes",
    find: async (organisation, { id }) => {
      const scope = await findScopeAt(deps, { organisation }, id);
      if (!scope) return undefined;
      return {
        scope,
        applications: await applicationsAllowing(deps.database.query, organisation.id, scope.name),
      };
    },
    question: ({ console: { frame, scopes: text } }, { scope, applications }, organisation) => {
      const named = applications.map(({ id, name }) => ({
        name,
        uri: consolePath(organisation, `/applications/${id}`),
      }));
      return {
        heading: text.deleteTitle({ name: scope.name }),
        text: html`<p>${text.deleteText}</p>
${named.length === 0 ? html`<p>${text.deleteUnused}</p>` : html`<p>${text.deleteUsed}</p>${usedBy(named, text)}`}`,
        confirm: text.deleteSubmit,
        confirmId: "scope-delete-confirm",
        name: scope.name,
        back: `/scopes/${scope.id}`,
        breadcrumbs: [
          { label: frame.pages.scopes, uri: consolePath(organisation, "/scopes") },
          { label: scope.name, uri: consolePath(organisation, `/scopes/${scope.id}`) },
        ],
      };
    },
    act: async (acting, { scope: { id, version } }, _form, { messages }) => {
      try {
        await deleteCustomScope(deps, { ...acting, id, version });
        return "/scopes?done=deleted";
      } catch (error) {
        if (!(error instanceof ScopeConflict)) throw error;
        const { title, text } = messages.console.frame.changed;
        return { kind: "refused", title, text };
      }
    },
  });
}
