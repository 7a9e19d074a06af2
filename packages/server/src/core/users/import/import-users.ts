/** Creates many users in one transaction: all of them or none. */
import { boundTo, type Db } from "../../../db/open.ts";
import { recordAuditEvent } from "../../audit/audit.store.ts";
import type { Organisation } from "../../organisations/organisation.ts";
import type { AccountMailDeps } from "../account-mails.ts";
import { inviteUser } from "../invitations/invitations.ts";
import { emailKey } from "../user.ts";
import { insertUser } from "../users.store.ts";
import { InvalidUser, newPermId, roleDetails } from "../users.ts";
import { findKnownEmails } from "./import.store.ts";
import type { ImportedUser, ImportFault } from "./read-users.ts";

export interface UserImport {
  readonly organisation: Organisation;
  readonly users: readonly ImportedUser[];
  /** By email; without it the accounts wait for an invitation. */
  readonly invites: boolean;
  readonly actor: string;
  readonly address?: string;
}

/** Addresses that the organisation already has. */
export async function findTaken(
  db: Db,
  orgId: string,
  users: readonly ImportedUser[],
): Promise<ImportFault[]> {
  const known = await findKnownEmails(
    db,
    orgId,
    users.map(({ email }) => emailKey(email)),
  );
  return users
    .filter(({ email }) => known.has(emailKey(email)))
    .map(({ line, email }) => ({ line, fault: "taken", text: email }));
}

/**
 * In the caller's transaction, if `deps` are bound to one.
 * @throws InvalidUser `email-taken` when another request has created one of them meanwhile: roll back
 */
export async function importUsers(deps: AccountMailDeps, input: UserImport): Promise<void> {
  const { organisation, users, invites, actor, address } = input;
  const orgId = organisation.id;
  await deps.database.transaction(async (tx) => {
    const inside = { ...deps, database: boundTo(deps.database, tx) };
    for (const { line: _, ...user } of users) {
      if (invites) {
        await inviteUser(inside, { ...user, organisation, actor, ...(address && { address }), isNew: true });
        continue;
      }
      const now = deps.clock();
      const id = newPermId();
      const account = {
        orgId,
        id,
        emailKey: emailKey(user.email),
        emailVerifiedAt: null,
        passwordHash: null,
      };
      if (!(await insertUser(tx, { ...user, ...account, phone: null, now })))
        throw new InvalidUser("email-taken");
      const event = { orgId, at: now, actor, action: "user.created", target: id, address } as const;
      await recordAuditEvent(tx, { ...event, ...roleDetails(user.role) });
    }
  });
}
