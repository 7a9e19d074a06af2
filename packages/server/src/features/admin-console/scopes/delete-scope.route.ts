/** Deleting a custom scope: its name is typed, and the page lists the applications that may request it. */
import type { FastifyInstance } from "fastify";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { deleteCustomScope, ScopeConflict } from "../../../core/scopes/custom-scopes.ts";
import { html } from "../../../html/html.ts";
import { applied, type Confirmation, confirmationRoute } from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { findScope } from "./find-scope.ts";
import { usedBy } from "./scope.page.ts";
import { applicationsAllowing } from "./scopes.store.ts";

export function deleteScopeRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/scopes/:id/delete", deletion);
}

interface Pending {
  readonly scope: CustomScope;
  readonly applications: ReadonlyArray<{ readonly id: string; readonly name: string }>;
}

const deletion: Confirmation<ConsoleDeps, Pending> = {
  current: "scopes",
  load: async (deps, organisation, params) => {
    const scope = await findScope(deps, organisation, params);
    if (!scope) return undefined;
    const applications = await applicationsAllowing(deps.database.query, organisation.id, scope.name);
    return { scope, applications };
  },
  backUri: (organisation, { scope }) => consolePath(organisation, `/scopes/${scope.id}`),
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
      breadcrumbs: [
        { label: frame.pages.scopes, uri: consolePath(organisation, "/scopes") },
        { label: scope.name, uri: consolePath(organisation, `/scopes/${scope.id}`) },
      ],
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
