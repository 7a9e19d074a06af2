/** Creates the users of another product, with their password hashes, in one transaction: all of them or none. */
import type { Db } from "../../../../db/open.ts";
import { recordAuditEvents } from "../../../audit/audit.store.ts";
import type { CoreDeps } from "../../../core-deps.ts";
import { emailKey } from "../../user.ts";
import { insertUsers } from "../../users.store.ts";
import { InvalidUser, newPermId } from "../../users.ts";
import { findKnownEmails } from "../import.store.ts";
import type { MovedUser } from "./moved-user.ts";

export interface MovedImport {
  readonly orgId: string;
  readonly users: readonly MovedUser[];
  readonly actor: string;
  readonly address?: string;
}

/**
 * Addresses that the organisation has are skipped, so that an import can be repeated.
 * @throws InvalidUser `email-taken` when another request has created one of them meanwhile
 */
export const importMovedUsers = (
  { database, clock }: CoreDeps,
  { orgId, users, actor, address }: MovedImport,
): Promise<{ created: number; skipped: number }> =>
  database.transaction(async (tx) => {
    const fresh = await withoutKnown(tx, orgId, users);
    const now = clock();
    const rows = fresh.map(({ email, firstname, surname, passwordHash, emailVerified, disabled }) => ({
      ...{ orgId, id: newPermId(), email, emailKey: emailKey(email), firstname, surname, passwordHash },
      ...{ phone: null, role: "Standard" as const, now },
      emailVerifiedAt: emailVerified ? now : null,
      disabledAt: disabled ? now : null,
    }));
    if (!(await insertUsers(tx, rows))) throw new InvalidUser("email-taken");
    const event = { orgId, at: now, actor, ...(address === undefined ? {} : { address }) } as const;
    await recordAuditEvents(
      tx,
      rows.flatMap(({ id, disabledAt }) => [
        { ...event, action: "user.created" as const, target: id },
        ...(disabledAt === null ? [] : [{ ...event, action: "user.disabled" as const, target: id }]),
      ]),
    );
    return { created: rows.length, skipped: users.length - rows.length };
  });

/** Those that an import would create. */
export async function withoutKnown(db: Db, orgId: string, users: readonly MovedUser[]): Promise<MovedUser[]> {
  const known = await findKnownEmails(
    db,
    orgId,
    users.map(({ email }) => emailKey(email)),
  );
  return users.filter(({ email }) => !known.has(emailKey(email)));
}
