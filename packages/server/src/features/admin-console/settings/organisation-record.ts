/** The organisation as its settings forms load, lock and save it. */
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { findOrganisation, lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { InvalidOrganisation } from "../../../core/organisations/organisations.ts";
import { InvalidSettings } from "../../../core/organisations/settings-validation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import type { EditForm } from "../../../page-kit/edit-form.ts";
import type { ConsoleDeps, Visit } from "../../../page-kit/page.ts";

/** Past the cache: another node may have changed it a moment ago. @throws NotFound */
export async function loadOrganisation(
  { database }: Pick<ConsoleDeps, "database">,
  { organisation }: Visit,
): Promise<Organisation> {
  const record = await findOrganisation(database.query, organisation.id);
  if (!record) throw new NotFound("organisation");
  return record;
}

/** What the settings forms share. A fault is named by the last part of its member's path. */
export const organisationRecord: Pick<
  EditForm<never, Organisation, never, never>,
  "current" | "load" | "lock" | "explain"
> = {
  current: "settings",
  load: loadOrganisation,
  lock: (tx, { id }) => lockOrganisation(tx, id),
  explain: (error, { messages }) => organisationFaults(error, messages),
};

/** What is wrong with a field, by its name; undefined for any other error. */
export function organisationFaults(
  error: unknown,
  { console: { settings } }: Messages,
): { readonly faults: Readonly<Record<string, string>> } | undefined {
  const { faults: text } = settings;
  if (error instanceof InvalidOrganisation) return { faults: { name: text.name } };
  if (!(error instanceof InvalidSettings)) return undefined;
  const faults = error.faults.map(({ path, code }) => [path.split(".").at(-1) ?? path, text[code]]);
  return { faults: Object.fromEntries(faults) as Record<string, string> };
}
