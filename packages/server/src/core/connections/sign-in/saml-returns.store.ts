/**
 * SAML responses that have been verified, and wait for the browser to show its cookie: a POST from elsewhere comes without it. And
 * sign-outs that go on at the provider.
 */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { toRow } from "../../../db/records.ts";
import type { Encryption } from "../../encryption/encryption.ts";
import { sealedColumn } from "../../encryption/sealed-columns.ts";
import type { ConnectionKey } from "../connection.ts";

export const RETURN_LIFETIME_MS = 120_000;
const LOGOUT_LIFETIME_MS = 10 * 60_000;

const rowName = (orgId: string, handleHash: string) => `saml-return|${orgId}|${handleHash}`;

export const sealedSamlReturns = sealedColumn({
  table: "saml_return",
  column: "content",
  key: ["org_id", "handle_hash"],
  rowName: ({ org_id, handle_hash }) => rowName(String(org_id), String(handle_hash)),
});

/** Each kind has handles of its own: neither is the other's. */
const RETURN = "sgn_sr_";
const LOGOUT = "sgn_so_";

interface Parked {
  readonly content: object;
  readonly now: number;
}

interface Taken {
  readonly handle: string;
  readonly now: number;
}

/** @returns what the browser takes along, once */
export const parkReturn = (db: Db, encryption: Encryption, of: ConnectionKey, parked: Parked) =>
  park(db, encryption, of, { ...parked, handle: randomSecret(RETURN), lifetimeMs: RETURN_LIFETIME_MS });

/** Takes it away: a second one finds nothing. */
export const takeReturn = (db: Db, encryption: Encryption, of: ConnectionKey, taken: Taken) =>
  taken.handle.startsWith(RETURN) ? take(db, encryption, of, taken) : undefined;

/** RelayState has at most 80 bytes (SAML 2.0 Bindings §3.4.3): no place for where the sign-out leads. */
export const newLogoutHandle = (): string => randomSecret(LOGOUT);

/** @param parked.state where the sign-out leads, sealed */
export async function parkLogout(
  db: Db,
  encryption: Encryption,
  of: ConnectionKey,
  { state, ...parked }: Taken & { readonly state: string },
): Promise<void> {
  await park(db, encryption, of, { ...parked, content: { state }, lifetimeMs: LOGOUT_LIFETIME_MS });
}

/** @returns undefined when it was taken, or is none */
export async function takeLogout(
  db: Db,
  encryption: Encryption,
  of: ConnectionKey,
  taken: Taken,
): Promise<string | undefined> {
  if (!taken.handle.startsWith(LOGOUT)) return undefined;
  return ((await take(db, encryption, of, taken)) as { readonly state: string } | undefined)?.state;
}

async function park(
  db: Db,
  encryption: Encryption,
  { orgId, id: connectionId }: ConnectionKey,
  { content, handle, now, lifetimeMs }: Parked & Taken & { readonly lifetimeMs: number },
): Promise<string> {
  const handleHash = sha256Base64url(handle);
  const sealed = encryption.seal(Buffer.from(JSON.stringify(content)), rowName(orgId, handleHash));
  const row = { orgId, handleHash, connectionId, content: sealed, expiresAt: now + lifetimeMs };
  await db.insertInto("saml_return").values(toRow(row)).execute();
  return handle;
}

async function take(
  db: Db,
  encryption: Encryption,
  { orgId, id: connectionId }: ConnectionKey,
  { handle, now }: Taken,
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
