/** What the settings' forms have in common: the record as it is this moment, and what may be wrong with a change of it. */

import type { Organisation } from "../../../core/organisations/organisation.ts";
import { findOrganisation, holdOrganisation } from "../../../core/organisations/organisations.store.ts";
import { InvalidOrganisation } from "../../../core/organisations/organisations.ts";
import { InvalidSettings } from "../../../core/organisations/settings-validation.ts";
import type { FormState } from "../../../html/components/form-state.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import type { ConsoleDeps, Visit } from "../../../page-kit/visit.ts";

/** Not the cached one: another node may have changed it a moment ago. */
export async function recordOf(
  { database }: Pick<ConsoleDeps, "database">,
  { organisation }: Visit,
): Promise<Organisation> {
  const record = await findOrganisation(database.query, organisation.id);
  if (!record) throw new NotFound("organisation");
  return record;
}

/** Which record the forms are about, and how what is wrong with it is told: by the last part of the member's path. */
export const settingsRecord = {
  current: "settings",
  find: recordOf,
  hold: (tx: Parameters<typeof holdOrganisation>[0], { id }: Organisation) => holdOrganisation(tx, id),
  refused: (
    error: unknown,
    {
      messages: {
        console: { settings: text },
      },
    }: { messages: Messages },
  ): FormState | undefined => {
    if (error instanceof InvalidOrganisation) return { faults: { name: text.faults.name } };
    if (!(error instanceof InvalidSettings)) return undefined;
    const faults = error.faults.map(({ path, code }) => [path.split(".").at(-1) ?? path, text.faults[code]]);
    return { faults: Object.fromEntries(faults) as Record<string, string> };
  },
} as const;
