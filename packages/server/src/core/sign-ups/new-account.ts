/** The account of a sign-up, with what comes with it: groups, and the terms that were accepted. */
import type { Db } from "../../db/open.ts";
import { boundTo } from "../../db/open.ts";
import { type Act, recordAuditEvent } from "../audit/audit.store.ts";
import { changeMembers } from "../groups/group-members.ts";
import { findGroup } from "../groups/groups.store.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { RecordDeps } from "../record-changes.ts";
import { recordAcceptance } from "../terms/terms.ts";
import { emailKey } from "../users/user.ts";
import { insertUser } from "../users/users.store.ts";
import { newPermId } from "../users/users.ts";

export interface SignedUp {
  readonly email: string;
  readonly firstname: string;
  readonly surname: string;
  readonly locale: string | null;
  readonly passwordHash: string | null;
  readonly terms: { readonly version: string; readonly acceptedAt: number } | undefined;
}

/**
 * The address is proven. @param tx the transaction that redeems the link, or decides the sign-up
 * @returns the PermId; undefined when there is an account of the address by now
 */
export async function insertSignedUp(
  tx: Db,
  deps: RecordDeps,
  { id: orgId, settings }: Pick<Organisation, "id" | "settings">,
  { terms, ...person }: SignedUp,
  address: string | undefined,
): Promise<string | undefined> {
  const now = deps.clock();
  const id = newPermId();
  const { email } = person;
  const account = { ...person, orgId, id, emailKey: emailKey(email), emailVerifiedAt: now };
  if (!(await insertUser(tx, { ...account, phone: null, role: "Standard", now }))) return undefined;
  const act: Act = { orgId, actor: `user:${id}`, address };
  await recordAuditEvent(tx, { ...act, at: now, action: "user.registered", target: id });
  if (terms) await recordAcceptance(tx, deps, { orgId, userId: id, ...terms, address });
  const inside = { ...deps, database: boundTo(deps.database, tx) };
  // In one order: two sign-ups never wait for each other.
  for (const groupId of [...settings.signUp.groups].sort()) {
    const group = await findGroup(tx, { orgId, id: groupId });
    if (group?.source !== "local") continue;
    await changeMembers(inside, {
      ...{ ...act, actor: "system", source: "local", id: groupId },
      ...{ add: [{ type: "user", id }], remove: [] },
    });
  }
  return id;
}
