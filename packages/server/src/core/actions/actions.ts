/**
 * Creates and redeems the links in emails. The id in a link is a secret: stored as a SHA-256 hash, redeemed by one
 * statement.
 */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { Db } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import type { Encryption } from "../encryption/encryption.ts";
import {
  findActionAnywhere,
  findActionRow,
  insertAction,
  redeemActionRow,
  type StoredAction,
} from "./actions.store.ts";
import { type ActionData, type ActionType, actionLifetimeMs, type UserAction } from "./user-action.ts";

export interface ActionDeps {
  readonly encryption: Encryption;
  readonly clock: Clock;
}

export interface NewAction {
  readonly orgId: string;
  /** For a decoy: a stable name for its recipient, see `nobody`. */
  readonly userId: string;
  readonly type: ActionType;
  readonly data: ActionData;
  /**
   * For an email address without an account: the same statement with the same locking, and a row that expires
   * immediately, so that timing reveals nothing.
   */
  readonly isDecoy?: boolean;
}

/** The user id of a decoy: the next decoy for the same subject replaces it, as a link would. */
export const nobody = (subject: string): string => `nobody:${sha256Base64url(subject)}`;

export interface NamedAction {
  readonly orgId: string;
  readonly type: ActionType;
  /** From the link. */
  readonly id: string;
}

/**
 * Creates a link and voids the user's previous one of the same type.
 * @param tx the transaction that also writes the email
 * @returns the id for the link, and its expiry in milliseconds
 */
export async function createAction(
  tx: Db,
  { encryption, clock }: ActionDeps,
  { orgId, userId, type, data, isDecoy = false }: NewAction,
): Promise<{ id: string; expiresAt: number }> {
  const id = randomSecret("sgn_ua_");
  const idHash = sha256Base64url(id);
  const createdAt = clock();
  const expiresAt = isDecoy ? createdAt : createdAt + actionLifetimeMs[type];
  await insertAction(tx, {
    orgId,
    idHash,
    type,
    userId,
    sealed: encryption.seal(Buffer.from(JSON.stringify(data)), rowName(orgId, idHash)),
    createdAt,
    expiresAt,
    usedAt: null,
  });
  return { id, expiresAt };
}

/** Reads a link without redeeming it: undefined when it is unknown, used, expired, or of another type or organisation. */
export async function findOpenAction(
  db: Db,
  deps: ActionDeps,
  { orgId, type, id }: NamedAction,
): Promise<UserAction | undefined> {
  const row = await findActionRow(db, { orgId, type, idHash: sha256Base64url(id) });
  return row && row.usedAt === null && row.expiresAt > deps.clock() ? decrypt(deps, row) : undefined;
}

/** Reads a link by its id alone. An expired one is distinguished, because it can be requested again. */
export async function findLink(
  db: Db,
  deps: ActionDeps,
  { type, id }: Pick<NamedAction, "type" | "id">,
): Promise<UserAction | "expired" | undefined> {
  const row = await findActionAnywhere(db, sha256Base64url(id));
  if (!row || row.type !== type || row.usedAt !== null) return undefined;
  return row.expiresAt > deps.clock() ? decrypt(deps, row) : "expired";
}

/** Redeems a link, in the transaction of its action. @returns undefined when it can't be used (any more) */
export async function redeemAction(
  tx: Db,
  deps: ActionDeps,
  { orgId, type, id }: NamedAction,
): Promise<UserAction | undefined> {
  const row = await redeemActionRow(tx, { orgId, type, idHash: sha256Base64url(id), now: deps.clock() });
  return row && decrypt(deps, row);
}

const rowName = (orgId: string, idHash: string) => `user-action|${orgId}|${idHash}`;

function decrypt({ encryption }: ActionDeps, row: StoredAction): UserAction {
  const { orgId, idHash, type, userId, sealed, createdAt, expiresAt } = row;
  const data = JSON.parse(encryption.open(sealed, rowName(orgId, idHash)).toString()) as ActionData;
  return { orgId, idHash, type, userId, data, createdAt, expiresAt };
}
