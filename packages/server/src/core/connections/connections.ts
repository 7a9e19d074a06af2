/** Creates, changes and ends connections and their tokens. */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import {
  type Connection,
  type ConnectionKey,
  type ConnectionToken,
  connectionNameKey,
  InvalidConnection,
  MAX_TOKENS,
  validConnectionName,
  validTokenLabel,
} from "./connection.ts";
import {
  deleteTokenRow,
  findToken,
  insertConnection,
  insertToken,
  isNameTaken,
  listTokens,
  lockConnection,
  recordTokenUse,
  replaceConnection,
} from "./connections.store.ts";
import { requireNotEnforced } from "./enforced-domains.ts";

export type ConnectionContent = Pick<Connection, "name" | "enabled" | "deletionPolicy">;

/** @throws InvalidConnection */
export async function createConnection(
  deps: CoreDeps,
  { content, ...act }: Act & { readonly content: ConnectionContent },
): Promise<Connection> {
  const now = deps.clock();
  const name = validConnectionName(content.name);
  const made = { createdAt: now, updatedAt: now, version: 1 };
  const connection: Connection = {
    ...{ orgId: act.orgId, id: newUuid(), kind: "scim", ...content, ...made },
    ...{ name, nameKey: connectionNameKey(name), settings: null, secret: null },
  };
  await deps.database.transaction(async (tx) => {
    if (!(await insertConnection(tx, connection))) throw new InvalidConnection("name-taken");
    const event = { action: "connection.created" as const, target: connection.id };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event, details: { name: connection.name } });
  });
  return connection;
}

/**
 * Does nothing when nothing changes.
 * @param check of the present record, locked; throwing rolls back
 * @returns undefined when there is none
 * @throws InvalidConnection
 */
export function changeConnection(
  deps: CoreDeps,
  {
    id,
    change,
    check,
    ...act
  }: Act & {
    readonly id: string;
    readonly change: Partial<ConnectionContent>;
    readonly check?: (connection: Connection) => void;
  },
): Promise<Connection | undefined> {
  return deps.database.transaction(async (tx) => {
    const before = await lockConnection(tx, { orgId: act.orgId, id });
    if (!before) return undefined;
    check?.(before);
    const wanted = { ...before, ...change, name: validConnectionName(change.name ?? before.name) };
    const changed = (["name", "enabled", "deletionPolicy"] as const).filter(
      (name) => wanted[name] !== before[name],
    );
    if (changed.length === 0) return before;
    if (before.enabled && !wanted.enabled) await requireNotEnforced(tx, before);
    const key = connectionNameKey(wanted.name);
    // Null: of an older version, which let two directories have one name.
    const nameKey = changed.includes("name") ? key : before.nameKey;
    if (nameKey !== before.nameKey && (await isNameTaken(tx, { orgId: act.orgId, id, nameKey: key })))
      throw new InvalidConnection("name-taken");
    const now = deps.clock();
    const connection = { ...wanted, nameKey, updatedAt: now, version: before.version + 1 };
    if (!(await replaceConnection(tx, connection))) throw new InvalidConnection("name-taken");
    const event = { action: "connection.changed" as const, target: id, details: { changed } };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return connection;
  });
}

/** @returns with the token itself, which is nowhere else; undefined when there is no such connection. @throws InvalidConnection */
export function createToken(
  deps: CoreDeps,
  {
    id,
    label,
    expiresAt,
    ...act
  }: Act & { readonly id: string; readonly label: string; readonly expiresAt: number | null },
): Promise<(ConnectionToken & { readonly token: string }) | undefined> {
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const key = { orgId: act.orgId, id };
    // Of two at once the second sees the first.
    if ((await lockConnection(tx, key))?.kind !== "scim") return undefined;
    if (expiresAt !== null && expiresAt <= now) throw new InvalidConnection("invalid-expiry");
    if ((await listTokens(tx, key)).length >= MAX_TOKENS) throw new InvalidConnection("too-many-tokens");
    const token = randomSecret("sgn_st_");
    const made = { orgId: act.orgId, id: newUuid(), connectionId: id, label: validTokenLabel(label) };
    const record = { ...made, createdAt: now, expiresAt, lastUsedAt: null };
    await insertToken(tx, { ...record, tokenHash: sha256Base64url(token) });
    const event = {
      action: "connection.token-created" as const,
      target: id,
      details: { tokenId: record.id },
    };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return { ...record, token };
  });
}

/** @returns false when there is no such token of the connection */
export function revokeToken(
  deps: CoreDeps,
  { id, tokenId, ...act }: Act & { readonly id: string; readonly tokenId: string },
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    if (!(await lockConnection(tx, key)) || !(await deleteTokenRow(tx, key, tokenId))) return false;
    const event = { action: "connection.token-revoked" as const, target: id, details: { tokenId } };
    await recordAuditEvent(tx, { ...auditFields(act, deps.clock()), ...event });
    return true;
  });
}

/** `last_used_at` is written at most this often. */
const USE_INTERVAL_MS = 60_000;

/** @returns whether it is a token of the connection that has not expired */
export async function isTokenOf(deps: CoreDeps, key: ConnectionKey, token: string): Promise<boolean> {
  const db = deps.database.query;
  const now = deps.clock();
  const found = await findToken(db, key, { hash: sha256Base64url(token), now });
  if (!found) return false;
  if (found.lastUsedAt === null || now - found.lastUsedAt >= USE_INTERVAL_MS)
    await recordTokenUse(db, { orgId: key.orgId, id: found.id }, now);
  return true;
}
