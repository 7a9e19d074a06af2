/** TPM challenges as rows. */
import type { Db } from "../../../db/open.ts";
import { toRecord, toRow } from "../../../db/records.ts";
import type { DeviceChallengeTable } from "../../../db/tables/device-identity.ts";

/** Base64, as sent: the EK certificate and its intermediates. */
export interface EkPathText {
  readonly certificate: string;
  readonly chain: readonly string[];
}

export type DeviceChallenge = ReturnType<typeof toChallenge>;

const toChallenge = ({ nonce, ek_path, ak_public, ...row }: DeviceChallengeTable) => ({
  ...toRecord(row),
  nonce: Buffer.from(nonce, "base64url"),
  ekPath: JSON.parse(ek_path) as EkPathText,
  /** TPMT_PUBLIC. */
  akPublic: Buffer.from(ak_public, "base64") as Buffer,
});

export async function insertChallenge(db: Db, challenge: DeviceChallenge): Promise<void> {
  await db
    .insertInto("device_challenge")
    .values({
      ...toRow(challenge),
      nonce: challenge.nonce.toString("base64url"),
      ek_path: JSON.stringify(challenge.ekPath),
      ak_public: challenge.akPublic.toString("base64"),
    })
    .execute();
}

/** Deletes all but the newest `keep` challenges of a code. */
export async function deleteOldestChallenges(
  db: Db,
  { orgId, codeHash, keep }: { orgId: string; codeHash: string; keep: number },
): Promise<void> {
  const challenges = await db
    .selectFrom("device_challenge")
    .select("id")
    .where("org_id", "=", orgId)
    .where("code_hash", "=", codeHash)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
  const surplus = challenges.slice(keep).map(({ id }) => id);
  if (surplus.length === 0) return;
  await db.deleteFrom("device_challenge").where("org_id", "=", orgId).where("id", "in", surplus).execute();
}

/** Deletes and returns the challenge, expired or not. */
export async function takeChallenge(db: Db, orgId: string, id: string): Promise<DeviceChallenge | undefined> {
  const row = await db
    .deleteFrom("device_challenge")
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
  return row && toChallenge(row);
}
