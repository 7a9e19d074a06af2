/** SAML responses that have been verified, and wait for the browser to show its cookie: a POST from elsewhere comes without it. */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { toRow } from "../../../db/records.ts";
import type { Encryption } from "../../encryption/encryption.ts";
import { sealedColumn } from "../../encryption/sealed-columns.ts";
import type { ConnectionKey } from "../connection.ts";

export const RETURN_LIFETIME_MS = 120_000;

const rowName = (orgId: string, handleHash: string) => `saml-return|${orgId}|${handleHash}`;

export const sealedSamlReturns = sealedColumn({
  table: "saml_return",
  column: "content",
  key: ["org_id", "handle_hash"],
  rowName: ({ org_id, handle_hash }) => rowName(String(org_id), String(handle_hash)),
});

/** @returns what the browser takes along, once */
export async function parkReturn(
  db: Db,
  encryption: Encryption,
  { orgId, id: connectionId }: ConnectionKey,
  { content, now }: { readonly content: object; readonly now: number },
): Promise<string> {
  const handle = randomSecret("sgn_sr_");
  const handleHash = sha256Base64url(handle);
  const sealed = encryption.seal(Buffer.from(JSON.stringify(content)), rowName(orgId, handleHash));
  const row = { orgId, handleHash, connectionId, content: sealed, expiresAt: now + RETURN_LIFETIME_MS };
  await db.insertInto("saml_return").values(toRow(row)).execute();
  return handle;
}

/** Takes it away: a second one finds nothing. */
export async function takeReturn(
  db: Db,
  encryption: Encryption,
  { orgId, id: connectionId }: ConnectionKey,
  { handle, now }: { readonly handle: string; readonly now: number },
): Promise<unknown> {
  const handleHash = sha256Base64url(handle);
  const row = await db
    .deleteFrom("saml_return")
    .where((eb) => allOf(eb, { org_id: orgId, handle_hash: handleHash, connection_id: connectionId }))
    .where("expires_at", ">", now)
    .returning("content")
    .executeTakeFirst();
  if (!row) return undefined;
  return JSON.parse(encryption.open(row.content, rowName(orgId, handleHash)).toString()) as unknown;
}
