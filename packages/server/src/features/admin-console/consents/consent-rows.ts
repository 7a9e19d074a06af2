/** What the lists of consents and of pre-authorizations share: the names in their filters, their rows and columns. */
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount } from "../../../core/users/users.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { loadActorLabels } from "../../../page-kit/actor-names.ts";
import type { Choices, List, ListContext } from "../../../page-kit/list/list.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { type ConsentRow, type ConsentsTab, dayBy, type FilterProblem, scopesCell } from "./consents.page.ts";
import { findApplicationsBy, type ListedConsent } from "./consents.store.ts";

export type OrganisationId = Pick<Organisation, "id">;

/** The records that a consent's filter names, or why there is nothing to list. */
export async function resolveNames(
  { deps: { database }, organisation }: ListContext<ConsoleDeps>,
  named: { readonly application?: string | undefined; readonly user?: string },
  uriOf: (applicationId: string) => string,
): Promise<{ applicationId?: string | undefined; userId?: string | undefined } | { problem: FilterProblem }> {
  const { application = "", user = "" } = named;
  const { query } = database;
  const found =
    application === "" ? undefined : await findApplicationsBy(query, organisation.id, application);
  if (found?.length === 0) return { problem: { kind: "unknownApplication" } };
  if (found && found.length > 1)
    return { problem: { kind: "several", choices: found.map(({ id, name }) => ({ name, uri: uriOf(id) })) } };
  const account = user === "" ? undefined : await findSignInAccount(query, organisation.id, emailKey(user));
  if (user !== "" && !account) return { problem: { kind: "unknownUser" } };
  return { applicationId: found?.[0]?.id, userId: account?.user.id };
}

export async function withActors(
  { deps, organisation, messages }: ListContext<ConsoleDeps>,
  rows: readonly ListedConsent[],
): Promise<ConsentRow[]> {
  const actors = rows.flatMap(({ grantedBy, revokedBy }) => [grantedBy, revokedBy ?? []].flat());
  const label = await loadActorLabels(deps, organisation.id, actors, messages);
  return rows.map((row) => ({
    ...row,
    by: label(row.grantedBy),
    endedBy: row.revokedBy === null ? undefined : label(row.revokedBy),
  }));
}

export const grantButton = ({ consoleUri }: ConsoleFrame, tab: ConsentsTab, label: string) =>
  buttonLink({ id: "consent-new", uri: consoleUri(`/${tab}/new`), label, kind: "primary" });

// Ids rise with the time of the grant.
export const sorts = { since: { isNumber: false, isDescending: true, value: ({ id }: ConsentRow) => id } };

export const grantColumns: List<ConsoleDeps, ConsentRow, "since", Choices>["columns"] = [
  { label: ({ console: { consents } }) => consents.columns.scopes, cell: scopesCell },
  {
    label: ({ console: { consents } }) => consents.columns.since,
    sort: "since",
    cell: ({ grantedAt, by }, { messages }) => dayBy(grantedAt, by, messages),
  },
];

export const exportColumns = {
  id: ({ id }: ConsentRow) => id,
  applicationId: ({ application }: ConsentRow) => application.id,
  application: ({ application }: ConsentRow) => application.name,
  scopes: ({ scopes }: ConsentRow) => scopes.join(" "),
  grantedBy: ({ by }: ConsentRow) => by,
  grantedAt: ({ grantedAt }: ConsentRow) => new Date(grantedAt),
};
