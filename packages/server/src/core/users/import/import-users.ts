/** Creates many users in one transaction: all of them or none. */
import { boundTo, type Db } from "../../../db/open.ts";
import { recordAuditEvents } from "../../audit/audit.store.ts";
import type { Organisation } from "../../organisations/organisation.ts";
import type { AccountMailDeps } from "../account-mails.ts";
import { inviteUser } from "../invitations/invitations.ts";
import { emailKey } from "../user.ts";
import { insertUsers } from "../users.store.ts";
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
  const { invites } = input;
  await deps.database.transaction(async (tx) => {
    const inside = { ...deps, database: boundTo(deps.database, tx) };
    await (invites ? inviteUsers(inside, input) : createUsers(inside, input));
  });
}

async function inviteUsers(
  inside: AccountMailDeps,
  { organisation, users, actor, address }: UserImport,
): Promise<void> {
  for (const { line: _, ...user } of users)
    await inviteUser(inside, { ...user, organisation, actor, ...(address && { address }), isNew: true });
}

async function createUsers(
  { database: { query: tx }, clock }: AccountMailDeps,
  { organisation: { id: orgId }, users, actor, address }: UserImport,
): Promise<void> {
  const now = clock();
  const rows = users.map(({ line: _, ...user }) => ({
    ...user,
    orgId,
    id: newPermId(),
    emailKey: emailKey(user.email),
    emailVerifiedAt: null,
    passwordHash: null,
    phone: null,
    now,
  }));
  if (!(await insertUsers(tx, rows))) throw new InvalidUser("email-taken");
  await recordAuditEvents(
    tx,
    rows.map(({ id, role }) => ({
      ...{ orgId, at: now, actor, address },
      action: "user.created",
      target: id,
      ...roleDetails(role),
    })),
  );
}
