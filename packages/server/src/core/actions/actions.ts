/**
 * Creates, sends, opens and redeems the links in emails. The id in a link is a secret: stored as a SHA-256 hash, redeemed by one
 * statement.
 */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { Db } from "../../db/open.ts";
import { type AuditEvent, recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import type { CoreDeps } from "../core-deps.ts";
import { isEnforced } from "../domains/enforced-sign-in.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { sealedColumn } from "../encryption/sealed-columns.ts";
import type { Outbox } from "../mail/outbox.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { OrganisationDirectory } from "../organisations/organisations.ts";
import { takesPasswords } from "../organisations/sign-in-methods.ts";
import { emailKey, type User } from "../users/user.ts";
import { findUser, findUserByEmail } from "../users/users.store.ts";
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
  /** Default: what links of its type have. */
  readonly lifetimeMs?: number | undefined;
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
  { orgId, userId, type, data, isDecoy = false, lifetimeMs = actionLifetimeMs[type] }: NewAction,
): Promise<{ id: string; expiresAt: number }> {
  const id = randomSecret("sgn_ua_");
  const idHash = sha256Base64url(id);
  const createdAt = clock();
  const expiresAt = isDecoy ? createdAt : createdAt + lifetimeMs;
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

/** Redeems a link, in the transaction of its action. @returns undefined when it can't be used (any more) */
export async function redeemAction(
  tx: Db,
  deps: ActionDeps,
  { orgId, type, id }: NamedAction,
): Promise<UserAction | undefined> {
  const row = await redeemActionRow(tx, { orgId, type, idHash: sha256Base64url(id), now: deps.clock() });
  return row && decrypt(deps, row);
}

/** The same for a browser that has presented the link before, and comes back. */
export async function redeemActionByHash(
  tx: Db,
  deps: ActionDeps,
  key: { readonly orgId: string; readonly type: ActionType; readonly idHash: string },
): Promise<UserAction | undefined> {
  const row = await redeemActionRow(tx, { ...key, now: deps.clock() });
  return row && decrypt(deps, row);
}

export const sealedActions = sealedColumn({
  table: "user_action",
  column: "data",
  key: ["org_id", "id_hash"],
  rowName: ({ org_id, id_hash }) => rowName(String(org_id), String(id_hash)),
});

const rowName = (orgId: string, idHash: string) => `user-action|${orgId}|${idHash}`;

function decrypt({ encryption }: ActionDeps, row: StoredAction): UserAction {
  const { orgId, idHash, type, userId, sealed, createdAt, expiresAt } = row;
  const data = JSON.parse(encryption.open(sealed, rowName(orgId, idHash)).toString()) as ActionData;
  return { orgId, idHash, type, userId, data, createdAt, expiresAt };
}

type OpenedActionDeps = CoreDeps & ActionDeps & { readonly organisations: OrganisationDirectory };

export interface OpenedAction {
  /** From the link. */
  readonly id: string;
  readonly action: UserAction;
  readonly organisation: Organisation;
  /** What a new password must not contain; the email address comes first. */
  readonly about: readonly string[];
  /** The recipient; a registration has no account locale yet. */
  readonly reader: Pick<User, "locale">;
}

/** Whose link it is, also when it is used or expired: its page says so, and offers a new one. */
export async function findActionOfLink(
  deps: CoreDeps & ActionDeps,
  { id, types }: { id: string; types: readonly ActionType[] },
): Promise<UserAction | undefined> {
  const row = await findActionAnywhere(deps.database.query, sha256Base64url(id));
  return row && types.includes(row.type) ? decrypt(deps, row) : undefined;
}

/**
 * Reads a link by its id alone, without redeeming it. An expired one is distinguished, because it can be requested again.
 * @returns undefined when it is unknown, used, of another type, or its account has changed; indistinguishably
 */
export async function openAction(
  deps: OpenedActionDeps,
  { id, type }: { id: string; type: string },
): Promise<OpenedAction | "expired" | undefined> {
  const row = await findActionAnywhere(deps.database.query, sha256Base64url(id));
  if (!row || row.type !== type || row.usedAt !== null) return undefined;
  if (row.expiresAt <= deps.clock()) return "expired";
  const action = decrypt(deps, row);
  const organisation = await deps.organisations.find(action.orgId);
  if (!organisation || (await isClosedLink(deps.database.query, organisation, action))) return undefined;
  const account = await accountOf(deps, action);
  return account && { id, action, organisation, ...account };
}

/** Whether the way that the link opened has been closed since it was sent (connections.md §4, "Enforced"). */
export async function isClosedLink(
  db: Db,
  { id, settings }: Organisation,
  { type, data }: Pick<UserAction, "type" | "data">,
): Promise<boolean> {
  const isReset = type === "ResetPassword";
  if (isReset && !takesPasswords(settings)) return true;
  return (isReset || data.registration !== undefined) && isEnforced(db, id, data.email);
}

async function accountOf(
  { database, organisations }: OpenedActionDeps,
  { orgId, userId, data }: UserAction,
): Promise<Pick<OpenedAction, "about" | "reader"> | undefined> {
  const { registration, homeOrgId = orgId } = data;
  if (registration) {
    // Another link has created the account.
    if (await findUserByEmail(database.query, orgId, emailKey(data.email))) return undefined;
    const { firstname, surname } = registration;
    return { about: [data.email, firstname, surname], reader: { locale: null } };
  }
  if (homeOrgId !== orgId && !(await organisations.find(homeOrgId))) return undefined;
  const user = await findUser(database.query, homeOrgId, userId);
  if (!user || user.disabledAt !== null) return undefined;
  // The link proves control of the address that it was sent to, and of no other.
  if (user.email !== data.email) return undefined;
  return { about: [user.email, user.firstname, user.surname], reader: user };
}

export interface LinkMailDeps extends ActionDeps {
  readonly outbox: Outbox;
}

export interface LinkMail {
  /** The organisation of the link, which the email is sent for. */
  readonly orgId: string;
  readonly type: ActionType;
  /** PermId, or the subject of a registration; anything for a decoy. */
  readonly userId: string;
  readonly data: ActionData;
  readonly recipient: string;
  readonly locale: string;
  addressOf(id: string): string;
  /** For an invitation: the email address of the user who invites. */
  readonly inviter?: string | undefined;
  /** For a new address: the present one, as whoever reads the email may be asked to confirm somebody else's account. */
  readonly account?: string | undefined;
  /** Whether the recipient has proven to own the address. */
  readonly isVerified?: boolean | undefined;
  /** For an email address without an account: the same statements, and rows without effect. */
  readonly isDecoy: boolean;
  /**
   * For a decoy that a signed-in user caused: its link is stored as long as any other, because the user can read its
   * expiry. Nobody has its id.
   */
  readonly isKept?: boolean;
  /** As of `NewAction`. */
  readonly lifetimeMs?: number | undefined;
  readonly audit: Omit<AuditEvent, "at">;
}

/** Writes link, email and audit event together. @returns when the link ends, milliseconds */
export async function sendLinkMail(tx: Db, deps: LinkMailDeps, mail: LinkMail): Promise<number> {
  const { orgId, type, userId, data, recipient, locale, isDecoy, isKept = false, audit } = mail;
  const inviter = mail.inviter === undefined ? {} : { inviter: mail.inviter };
  const account = mail.account === undefined ? {} : { account: mail.account };
  const verified = mail.isVerified ? { isVerified: true as const } : {};
  const link = { orgId, userId, type, data, isDecoy: isDecoy && !isKept, lifetimeMs: mail.lifetimeMs };
  const { id, expiresAt } = await createAction(tx, deps, link);
  await deps.outbox.put(tx, {
    orgId,
    recipient,
    locale,
    mail: {
      template: type,
      data: { link: mail.addressOf(id), expiresAt, ...inviter, ...account, ...verified },
    },
    isDecoy,
  });
  await recordAuditEvent(tx, { ...audit, at: deps.clock() });
  return expiresAt;
}
