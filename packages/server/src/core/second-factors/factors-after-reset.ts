/**
 * Second factors after a password reset by email. Whoever knew the old password may have added a passkey, which signs in alone:
 * every passkey ends that the owner doesn't keep. The mailbox alone must not defeat a second factor either: an authenticator
 * app can be removed only while it is new, and recovery codes stay required after a passkey that wasn't new.
 */
import type { Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { MailedFactors } from "../mail/mail.ts";
import { factorOwner } from "./factor-status.ts";
import { deletePasskeys, listPasskeys } from "./passkeys/passkeys.store.ts";
import type { FactorOwner } from "./second-factor.ts";
import { deleteRecoveryCodes, deleteTotp, findFactorSummary, findTotp } from "./second-factors.store.ts";

/**
 * How long a factor counts as new. Its owner was notified when it was added; a later doubt is for an administrator, who can
 * reset all factors.
 */
export const NEW_FACTOR_MS = 14 * 86_400_000;

export const isNewFactor = ({ createdAt }: { readonly createdAt: number }, now: number): boolean =>
  createdAt > now - NEW_FACTOR_MS;

/** What the owner chose on the page of the reset. */
export interface FactorChoice {
  /** By id; every other passkey ends, also one that was added since the page was shown. */
  readonly keptPasskeys: readonly string[];
  /** Ignored for an app that isn't new. */
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
  const passkeys = await listPasskeys(tx, owner);
  const ended = passkeys.filter(({ id }) => !choice.keptPasskeys.includes(id));
  const totp = await findTotp(tx, owner);
  if (passkeys.length === 0 && !totp) return undefined;
  const endsTotp = totp !== undefined && choice.removesTotp && isNewFactor(totp, now);
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

/** Codes that came with what was removed; those of an older passkey stay, as the second factor that is left. */
async function endRecoveryCodes(
  tx: Db,
  owner: FactorOwner,
  removed: readonly { readonly createdAt: number }[],
  now: number,
): Promise<boolean> {
  if (removed.length === 0 || !removed.every((factor) => isNewFactor(factor, now))) return false;
  const { hasTotp, passkeys, recoveryCodes } = await findFactorSummary(tx, owner);
  if (hasTotp || passkeys > 0 || recoveryCodes === 0) return false;
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
