/** Stores the authenticator app of a user. */
import type { Db } from "../../../db/open.ts";
import type { FactorOwner } from "../second-factor.ts";

export interface TotpRow {
  /** Changes with every new secret. */
  readonly id: string;
  readonly sealedSecret: string;
  readonly lastStep: number;
  readonly createdAt: number;
}

export async function findTotp(db: Db, owner: FactorOwner): Promise<TotpRow | undefined> {
  const row = await db
    .selectFrom("totp_credential")
    .select(["id", "secret", "last_step", "created_at"])
    .where((eb) => eb.and({ org_id: owner.homeOrgId, user_id: owner.userId }))
    .executeTakeFirst();
  return row && { id: row.id, sealedSecret: row.secret, lastStep: row.last_step, createdAt: row.created_at };
}

/** A user has one authenticator app: a new one replaces it. */
export async function putTotp(db: Db, owner: FactorOwner, row: TotpRow): Promise<void> {
  const values = {
    id: row.id,
    secret: row.sealedSecret,
    last_step: row.lastStep,
    created_at: row.createdAt,
  };
  await db
    .insertInto("totp_credential")
    .values({ org_id: owner.homeOrgId, user_id: owner.userId, ...values })
    .onConflict((conflict) => conflict.columns(["org_id", "user_id"]).doUpdateSet(values))
    .execute();
}

/** Consumes a time step (RFC 6238 §5.2). @returns false if it, or a later one, was used before */
export async function consumeTotpStep(
  db: Db,
  owner: FactorOwner,
  use: { id: string; step: number },
): Promise<boolean> {
  const result = await db
    .updateTable("totp_credential")
    .set({ last_step: use.step })
    .where((eb) => eb.and({ org_id: owner.homeOrgId, user_id: owner.userId, id: use.id }))
    .where("last_step", "<", use.step)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function deleteTotp(db: Db, owner: FactorOwner): Promise<boolean> {
  const result = await db
    .deleteFrom("totp_credential")
    .where((eb) => eb.and({ org_id: owner.homeOrgId, user_id: owner.userId }))
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}
