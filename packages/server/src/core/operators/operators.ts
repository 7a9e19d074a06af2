/** The operators: clients and people of a reserved organisation, whose API scopes hold in every organisation (api-v1.md). */
import type { Act } from "../audit/audit.store.ts";
import type { DeviceCa } from "../device-ca/authority.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { findOrganisation } from "../organisations/organisations.store.ts";
import { createOrganisation } from "../organisations/organisations.ts";
import type { RecordDeps } from "../record-changes.ts";
import { findOperatorsOrganisation, reserveOrganisation } from "./operators.store.ts";

const NAME = "Signet operators";

/** @param deps in a transaction. @returns the reserved organisation, made now if this is the first operator */
export async function requireOperatorsOrganisation(
  deps: RecordDeps & { readonly deviceCa: DeviceCa },
  { actor }: Pick<Act, "actor">,
): Promise<Organisation> {
  const { query: tx } = deps.database;
  const known = await findOperatorsOrganisation(tx);
  const found = known === undefined ? undefined : await findOrganisation(tx, known);
  if (found) return found;
  const made = await createOrganisation(deps, tx, { name: NAME, actor });
  await deps.deviceCa.create(tx, { orgId: made.id, actor });
  // Of two that are first, one waits here for the other, and is rolled back with what it made.
  if (!(await reserveOrganisation(tx, made.id)))
    throw new Error("another command has made the operators' organisation: run this one again");
  return made;
}
