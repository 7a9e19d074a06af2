/**
 * An application that other organisations have enabled has a copy in each of them, with the same id. What the tokens, consents and
 * assignments of that organisation refer to is its copy, which follows its home: in the transaction of each change (connections.md §7).
 */
import type { Db } from "../../db/open.ts";
import { auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
import type { Application } from "./application.ts";
import { deleteApplicationRow } from "./applications.store.ts";
import { followSettings, isOfferedTo } from "./copied-settings.ts";
import { listCopiesOfHome, listOrganisationsOfCopies, lockCopies } from "./copies.store.ts";
import { revokeGrantedCredentials } from "./granted-credentials.ts";
import { isFapi } from "./security-profile.ts";

/** A copy is changed at its home alone. */
export class ForeignApplication extends Error {
  constructor() {
    super("another organisation shares the application, and alone can change it");
    this.name = "ForeignApplication";
  }
}

/** @throws ForeignApplication */
export function requireOwn({ homeOrgId }: Pick<Application, "homeOrgId">): void {
  if (homeOrgId !== null) throw new ForeignApplication();
}

/** Of a change, or of the deletion of an application: undefined for a deleted one. */
export interface HomeChange {
  readonly before: Application;
  readonly after: Application | undefined;
}

/** Changes the copies as their home has changed; ends those whose organisation may no longer have one. The home is locked. */
export async function spreadChange(tx: Db, deps: RecordDeps, { before, after }: HomeChange): Promise<void> {
  // Nobody can have enabled one that was never shared.
  if (before.homeOrgId !== null || (before.settings.shared === undefined && !after?.settings.shared)) return;
  for (const copy of await lockCopies(tx, before)) {
    if (after && isOfferedTo(after, copy.orgId)) await followHome(tx, deps, copy, after);
    else await endCopy(tx, deps, copy, { actor: "system" });
  }
}

async function followHome(tx: Db, deps: RecordDeps, copy: Application, home: Application): Promise<void> {
  await followSettings(tx, deps, copy, home);
  await endUnbound(tx, { before: copy, after: home, orgId: copy.orgId, now: deps.clock() });
  const isEnding = home.disabledAt !== null && copy.disabledAt === null;
  if (isEnding) await revokeGrantedCredentials(tx, copy, deps.clock());
}

/** FAPI 2.0: nothing unbound stays in use where the application begins to have the profile. */
export async function endUnbound(
  tx: Db,
  {
    before,
    after: { id, settings },
    orgId,
    now,
  }: { before: Application; after: Application; orgId: string; now: number },
): Promise<void> {
  if (!isFapi(settings) || isFapi(before.settings)) return;
  const which = { orgId, applicationId: id, isUnbound: true } as const;
  await revokeTokenFamilies(tx, { ...which, now, reason: "security_profile" });
}

/** Deletes the copy with its codes, tokens, consents and session keys there. @returns false when somebody else has */
export async function endCopy(
  tx: Db,
  deps: RecordDeps,
  copy: Application,
  by: { readonly actor: string; readonly address?: string | undefined },
): Promise<boolean> {
  if (!(await deleteApplicationRow(tx, copy))) return false;
  await recordChange(tx, deps, "application", withdrawn(copy, by, deps.clock()));
  await deps.changes.publish(tx, { orgId: copy.orgId, topic: "system-account" });
  return true;
}

const withdrawn = (
  copy: Application,
  by: { readonly actor: string; readonly address?: string | undefined },
  now: number,
) => ({
  ...auditFields({ orgId: copy.orgId, ...by }, now),
  action: "shared-application.withdrawn" as const,
  target: copy.id,
  details: { name: copy.name, organisation: copy.homeOrgId ?? "" },
});

/**
 * Of an organisation that is being deleted: it has been disabled, so that no node takes its copies for enabled.
 * @returns how many, at most `limit`
 */
export async function endCopiesOfHome(
  tx: Db,
  homeOrgId: string,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<number> {
  const copies = await listCopiesOfHome(tx, homeOrgId, limit);
  for (const copy of copies)
    if (await deleteApplicationRow(tx, copy))
      await recordAuditEvent(tx, withdrawn(copy, { actor: "system" }, now));
  return copies.length;
}

/** For a change that the copies' records do not show, e.g. of the secrets: every node reads them again. */
export async function publishToCopies(
  tx: Db,
  { changes }: Pick<RecordDeps, "changes">,
  home: { readonly orgId: string; readonly id: string },
): Promise<void> {
  for (const orgId of await listOrganisationsOfCopies(tx, home))
    await changes.publish(tx, { orgId, topic: "application" });
}
