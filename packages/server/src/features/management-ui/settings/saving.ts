/** What the settings' forms have in common: the record as it is this moment, and keeping a change of it. */
import { ChangedMeanwhile, requireSeen } from "../../../console/submission.ts";
import { actingOn, type ConsoleDeps, type Visit } from "../../../console/visit.ts";
import type { Organisation, OrganisationSettings } from "../../../core/organisations/organisation.ts";
import {
  changeOrganisationSettings,
  InvalidOrganisation,
} from "../../../core/organisations/organisations.ts";
import { InvalidSettings } from "../../../core/organisations/settings-validation.ts";
import { findOrganisation } from "../../../core/organisations/store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";

/** Not the cached one: another node may have changed it a moment ago. */
export async function recordOf(
  { database }: Pick<ConsoleDeps, "database">,
  { organisation }: Visit,
): Promise<Organisation> {
  const record = await findOrganisation(database.query, organisation.id);
  if (!record) throw new NotFound("organisation");
  return record;
}

export interface SettingsChange {
  readonly name?: string;
  settings(before: Organisation): Partial<OrganisationSettings>;
  readonly seen: string | undefined;
  /** The members that the form is about, for `seen`. */
  members(record: Organisation): unknown;
}

export type SettingsOutcome = "saved" | "changed" | { readonly faults: Record<string, string> };

/** @returns the faults by the field that each is about: the last part of the member's path */
export async function saveSettings(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  { name, settings, seen, members }: SettingsChange,
  { console: { settings: text } }: Messages,
): Promise<SettingsOutcome> {
  try {
    await changeOrganisationSettings(deps, {
      ...actingOn(visit, signedIn),
      ...(name === undefined ? {} : { name }),
      settings: (before) => {
        requireSeen(seen, members(before));
        return settings(before);
      },
    });
    return "saved";
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return "changed";
    if (error instanceof InvalidOrganisation) return { faults: { name: text.faults.name } };
    if (!(error instanceof InvalidSettings)) throw error;
    const faults = error.faults.map(({ path, code }) => [path.split(".").at(-1) ?? path, text.faults[code]]);
    return { faults: Object.fromEntries(faults) as Record<string, string> };
  }
}
