/** TPM challenges as rows. */
import type { Db } from "../../../db/open.ts";

/** Base64, as sent: the EK certificate and its intermediates. */
export interface EkPathText {
  readonly certificate: string;
  readonly chain: readonly string[];
}

export interface DeviceChallenge {
  readonly orgId: string;
  readonly id: string;
  /** Of the enrolment code. */
  readonly codeHash: string;
  /** SHA-256, base64url. */
  readonly secretHash: string;
  readonly nonce: Buffer;
  /** SHA-256 of the EK's SPKI, base64url. */
  readonly ekHash: string;
  readonly ekPath: EkPathText;
  /** TPMT_PUBLIC. */
  readonly akPublic: Buffer;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export async function insertChallenge(db: Db, challenge: DeviceChallenge): Promise<void> {
  await db
    .insertInto("device_challenge")
    .values({
      org_id: challenge.orgId,
      id: challenge.id,
      code_hash: challenge.codeHash,
      secret_hash: challenge.secretHash,
      nonce: challenge.nonce.toString("base64url"),
      ek_hash: challenge.ekHash,
      ek_path: JSON.stringify(challenge.ekPath),
      ak_public: challenge.akPublic.toString("base64"),
      created_at: challenge.createdAt,
      expires_at: challenge.expiresAt,
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
export async function takeChallenge(
  db: Db,
  { orgId, id }: { orgId: string; id: string },
): Promise<DeviceChallenge | undefined> {
  const row = await db
    .deleteFrom("device_challenge")
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
  return (
    row && {
      orgId: row.org_id,
      id: row.id,
      codeHash: row.code_hash,
      secretHash: row.secret_hash,
      nonce: Buffer.from(row.nonce, "base64url"),
      ekHash: row.ek_hash,
      ekPath: JSON.parse(row.ek_path) as EkPathText,
      akPublic: Buffer.from(row.ak_public, "base64"),
      createdAt: row.created_at,
      expiresAt: row.expires_at,
    }
  );
}
