/** Making and using the links of mails. The link's id is a secret: stored as SHA-256 only, used by one statement. */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { Db } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import type { Encryption } from "../encryption/encryption.ts";
import {
  findActionAnywhere,
  findActionRow,
  insertAction,
  type StoredAction,
  useActionRow,
} from "./actions.store.ts";
import { type ActionData, type ActionType, actionLifetimeMs, type UserAction } from "./user-action.ts";

export interface ActionDeps {
  readonly encryption: Encryption;
  readonly clock: Clock;
}

export interface NewAction {
  readonly orgId: string;
  /** Of a decoy: a name for whoever it is made for, the same every time. */
  readonly userId: string;
  readonly type: ActionType;
  readonly data: ActionData;
  /**
   * For an address that nobody has: the same statement, which takes the place of the one before and waits for it alike,
   * and a row that opens nothing because it expires at once.
   */
  readonly isDecoy?: boolean;
}

/** Whose decoy it is: the next one for the same takes its place, as a link would. */
export const nobody = (subject: string): string => `nobody:${sha256Base64url(subject)}`;

export interface NamedAction {
  readonly orgId: string;
  readonly type: ActionType;
  /** As it stood in the link. */
  readonly id: string;
}

/**
 * Makes a link; one of the same kind that the user had before is void from now on.
 * @param tx the transaction that also writes the mail
 * @returns the id for the link, and when it expires in milliseconds
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

/** Looks without using: undefined for one that is unknown, used, expired, of another kind or organisation. */
export async function findOpenAction(
  db: Db,
  deps: ActionDeps,
  { orgId, type, id }: NamedAction,
): Promise<UserAction | undefined> {
  const row = await findActionRow(db, { orgId, type, idHash: sha256Base64url(id) });
  return row && row.usedAt === null && row.expiresAt > deps.clock() ? opened(deps, row) : undefined;
}

/**
 * The same by the id alone, of whichever organisation. One that came too late is told from one that never was, or is
 * used: it can be asked for again.
 */
export async function findLink(
  db: Db,
  deps: ActionDeps,
  { type, id }: Pick<NamedAction, "type" | "id">,
): Promise<UserAction | "expired" | undefined> {
  const row = await findActionAnywhere(db, sha256Base64url(id));
  if (!row || row.type !== type || row.usedAt !== null) return undefined;
  return row.expiresAt > deps.clock() ? opened(deps, row) : "expired";
}

/** The single use, in the transaction of the act. @returns undefined when it cannot be used, or was used meanwhile */
export async function useAction(
  tx: Db,
  deps: ActionDeps,
  { orgId, type, id }: NamedAction,
): Promise<UserAction | undefined> {
  const row = await useActionRow(tx, { orgId, type, idHash: sha256Base64url(id), now: deps.clock() });
  return row && opened(deps, row);
}

const rowName = (orgId: string, idHash: string) => `user-action|${orgId}|${idHash}`;

function opened({ encryption }: ActionDeps, row: StoredAction): UserAction {
  const { orgId, idHash, type, userId, sealed, createdAt, expiresAt } = row;
  const data = JSON.parse(encryption.open(sealed, rowName(orgId, idHash)).toString()) as ActionData;
  return { orgId, idHash, type, userId, data, createdAt, expiresAt };
}
