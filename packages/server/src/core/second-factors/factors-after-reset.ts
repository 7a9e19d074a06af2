/**
 * Second factors after a password reset by email. Whoever knew the old password may have added a passkey, which signs in alone:
 * every passkey ends that the owner doesn't keep. The mailbox alone must not defeat a second factor either: an authenticator
 * app can be removed only while it is new and no factor is older, and a recovery code stays required after a passkey that wasn't
 * new.
 */
import type { Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { MailedFactors } from "../mail/mail.ts";
import { factorOwner } from "./factor-status.ts";
import { deletePasskeys, listPasskeys } from "./passkeys/passkeys.store.ts";
import { createUnknownRecoveryCode } from "./recovery-codes/recovery-codes.ts";
import type { FactorOwner } from "./second-factor.ts";
import {
  backdateRecoveryCodes,
  deleteRecoveryCodes,
  deleteTotp,
  findFactorSummary,
  findRecoveryCodesSince,
  findTotp,
  type StoredTotp,
} from "./second-factors.store.ts";

/**
 * How long a factor counts as new. Its owner was notified when it was added; a later doubt is for an administrator, who can
 * reset all factors.
 */
export const NEW_FACTOR_MS = 14 * 86_400_000;

interface Dated {
  readonly createdAt: number;
}

const isNewFactor = ({ createdAt }: Dated, now: number): boolean => createdAt > now - NEW_FACTOR_MS;

/** Passkeys and authenticator app, as the page of the reset lists them. */
export interface ResetFactors {
  readonly passkeys: Awaited<ReturnType<typeof listPasskeys>>;
  readonly totp: StoredTotp | undefined;
  /** Whether it is new, and whoever added it had no older factor to verify it with. */
  readonly mayRemoveTotp: boolean;
}

export async function findResetFactors(db: Db, owner: FactorOwner, now: number): Promise<ResetFactors> {
  const passkeys = await listPasskeys(db, owner);
  const totp = await findTotp(db, owner);
  const all = totp === undefined ? passkeys : [...passkeys, totp];
  const mayRemoveTotp =
    all.every((factor) => isNewFactor(factor, now)) && (await hasNewCodes(db, owner, now));
  return { passkeys, totp, mayRemoveTotp };
}

/** Codes outlive the passkey that they came with, and so tell for how long the account has had a factor. */
async function hasNewCodes(db: Db, owner: FactorOwner, now: number): Promise<boolean> {
  const createdAt = await findRecoveryCodesSince(db, owner);
  return createdAt === undefined || isNewFactor({ createdAt }, now);
}

/** What the owner chose on the page of the reset. */
export interface FactorChoice {
  /** By id; every other passkey ends, also one that was added since the page was shown. */
  readonly keptPasskeys: readonly string[];
  /** Ignored unless `mayRemoveTotp`. */
  readonly removesTotp: boolean;
}

/** Where nobody can choose. */
export const keepsNoPasskey: FactorChoice = { keptPasskeys: [], removesTotp: false };

interface Account {
  readonly orgId: string;
  readonly id: string;
  readonly actor: string;
  readonly address?: string | undefined;
}

/**
 * In the transaction that replaces the password, after the account is locked.
 * @returns what to tell the owner; undefined for an account without passkeys and authenticator app
 */
export async function applyFactorChoice(
  tx: Db,
  account: Account,
  choice: FactorChoice,
  now: number,
): Promise<MailedFactors | undefined> {
  const owner = factorOwner({ homeOrgId: account.orgId, id: account.id });
  const { passkeys, totp, mayRemoveTotp } = await findResetFactors(tx, owner, now);
  const ended = passkeys.filter(({ id }) => !choice.keptPasskeys.includes(id));
  if (passkeys.length === 0 && !totp) return undefined;
  const endsTotp = totp !== undefined && choice.removesTotp && mayRemoveTotp;
  for (const { id, name } of ended) {
    await deletePasskeys(tx, owner, id);
    await record(tx, account, now, { action: "passkey.removed", details: { name } });
  }
  if (endsTotp) {
    await deleteTotp(tx, owner);
    await record(tx, account, now, { action: "authenticator.removed" });
  }
  const removed = [...ended, ...(endsTotp ? [totp] : [])];
  return {
    passkeysKept: passkeys.length - ended.length,
    passkeysRemoved: ended.length,
    ...(totp === undefined ? {} : { totp: endsTotp ? "removed" : "kept" }),
    recoveryCodesRemoved: await endRecoveryCodes(tx, owner, removed, now),
  };
}

/**
 * Codes that came with what was removed; those of an older passkey stay, as the second factor that is left. They count as old
 * as that passkey from then on, so that the next reset doesn't end them; if none is left, there is one that nobody knows.
 * @returns whether they ended
 */
async function endRecoveryCodes(
  tx: Db,
  owner: FactorOwner,
  removed: readonly Dated[],
  now: number,
): Promise<boolean> {
  if (removed.length === 0) return false;
  const since = Math.min(...removed.map(({ createdAt }) => createdAt));
  const { hasTotp, passkeys, recoveryCodes } = await findFactorSummary(tx, owner);
  if (!isNewFactor({ createdAt: since }, now)) {
    if (recoveryCodes === 0) await createUnknownRecoveryCode(tx, owner, since);
    else await backdateRecoveryCodes(tx, owner, since);
    return false;
  }
  if (hasTotp || passkeys > 0 || recoveryCodes === 0 || !(await hasNewCodes(tx, owner, now))) return false;
  await deleteRecoveryCodes(tx, owner);
  return true;
}

type Removal =
  | { readonly action: "passkey.removed"; readonly details: { readonly name: string } }
  | { readonly action: "authenticator.removed" };

const record = (
  tx: Db,
  { orgId, id, actor, address }: Account,
  at: number,
  removal: Removal,
): Promise<void> => recordAuditEvent(tx, { orgId, at, actor, address, target: id, ...removal });
