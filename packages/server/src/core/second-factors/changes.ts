/**
 * Adding and removing what a user proves themselves with. Each change is one transaction that holds the account, so that
 * two at once cannot both believe that the other's factor stays; each leaves its mark in the audit log, and the user hears
 * of it by mail.
 */
import type { Database, Db } from "../../db/open.ts";
import type { AuditAction } from "../audit/actions.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { MailedFactor } from "../mail/mail.ts";
import { type NoticeDeps, type NoticeOrigin, sendNotice } from "../mail/notices.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { type Assurance, assurance } from "../sessions/assurance.ts";
import type { User } from "../users/user.ts";
import { holdAccount, organisationsOfUser } from "../users/users.store.ts";
import { ownerOf } from "./factor-status.ts";
import { MOST_PASSKEYS, type Passkey } from "./passkeys/passkey.ts";
import { deletePasskeys, insertPasskey, renamePasskey } from "./passkeys/passkeys.store.ts";
import { deleteRecoveryCodes } from "./recovery-codes/recovery-codes.store.ts";
import { makeRecoveryCodes } from "./recovery-codes/recovery-codes.ts";
import { type FactorSummary, hasSecondFactor } from "./second-factor.ts";
import { findFactorSummary } from "./second-factors.store.ts";
import { deleteTotp } from "./totp/totp.store.ts";
import { addTotp, type TotpDeps } from "./totp/totp.ts";
import { revokeRememberedDevices } from "./trusted-browsers/trusted-browsers.store.ts";

/** Who changes whose factors, from where. */
export interface FactorChange {
  /** The user's home organisation: no other changes an account. */
  readonly organisation: Organisation;
  readonly user: User;
  /** As the audit log names it. */
  readonly actor: string;
  readonly origin?: NoticeOrigin;
  /** Of an administrator, for the audit log alone: where they are is not told to the user. */
  readonly address?: string;
  /** What the sign-in behind it has proven; undefined for an operator. */
  readonly reached?: Assurance;
}

/** The organisation wants everybody to have a second factor, and this was the last. */
export class LastFactor extends Error {
  constructor() {
    super("the organisation wants everybody to have a second factor: add another before removing this one");
    this.name = "LastFactor";
  }
}

/**
 * Takes the account for the transaction and looks again: a factor that came since the page was opened is shown before
 * anything is changed, so that of two who know the password and nothing else the second cannot replace the first's.
 * @returns what there is; undefined when the change must not be made
 */
async function hold(tx: Db, change: FactorChange, now: number): Promise<FactorSummary | undefined> {
  await holdAccount(tx, change.user, now);
  const summary = await findFactorSummary(tx, ownerOf(change.user));
  const { reached = assurance.multiFactor } = change;
  return hasSecondFactor(summary) && reached < assurance.multiFactor ? undefined : summary;
}

/** @returns recovery codes for who had none, to be shown this once; undefined when a factor has to be shown first */
export async function confirmTotp(
  deps: NoticeDeps & TotpDeps,
  tx: Db,
  change: FactorChange,
  added: { secret: string; step: number },
): Promise<readonly string[] | undefined> {
  const now = deps.clock();
  const summary = await hold(tx, change, now);
  if (!summary) return undefined;
  await addTotp(deps, tx, ownerOf(change.user), { ...added, now });
  await record(deps, tx, change, "authenticator.added");
  await sendNotice(tx, deps, change.user, { template: "FactorAdded", factor: "totp" }, change.origin);
  return firstRecoveryCodes(deps, tx, change, summary);
}

/**
 * @returns recovery codes for who had none; undefined when the credential is registered already, the account has as many
 * as it can, or a factor has to be shown first
 */
export async function addPasskey(
  deps: NoticeDeps,
  tx: Db,
  change: FactorChange,
  passkey: Passkey,
): Promise<readonly string[] | undefined> {
  const summary = await hold(tx, change, deps.clock());
  if (!summary || summary.passkeys >= MOST_PASSKEYS) return undefined;
  if (!(await insertPasskey(tx, ownerOf(change.user), passkey))) return undefined;
  await record(deps, tx, change, "passkey.added", { name: passkey.name });
  await sendNotice(tx, deps, change.user, { template: "FactorAdded", factor: "passkey" }, change.origin);
  return firstRecoveryCodes(deps, tx, change, summary);
}

async function firstRecoveryCodes(
  deps: NoticeDeps,
  tx: Db,
  change: FactorChange,
  { recoveryCodes }: FactorSummary,
): Promise<readonly string[]> {
  if (recoveryCodes > 0) return [];
  const codes = await makeRecoveryCodes(tx, ownerOf(change.user), deps.clock());
  await record(deps, tx, change, "recovery-codes.made");
  return codes;
}

export interface ChangeDeps extends NoticeDeps {
  readonly database: Database;
}

/**
 * The codes that were there stop working.
 * @returns ten new ones, to be shown this once; undefined for who has nothing to recover, or has to show it first
 */
export function renewRecoveryCodes(
  deps: ChangeDeps,
  change: FactorChange,
): Promise<readonly string[] | undefined> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const summary = await hold(tx, change, now);
    if (!summary || !hasSecondFactor(summary)) return undefined;
    const codes = await makeRecoveryCodes(tx, ownerOf(change.user), now);
    await record(deps, tx, change, "recovery-codes.made");
    const notice = { template: "FactorAdded", factor: "recovery-codes" } as const;
    await sendNotice(tx, deps, change.user, notice, change.origin);
    return codes;
  });
}

/** @returns false when there is none. @throws LastFactor */
export function removeTotp(deps: ChangeDeps, change: FactorChange): Promise<boolean> {
  const remove = (tx: Db) => deleteTotp(tx, ownerOf(change.user));
  return removing(deps, change, { action: "authenticator.removed", factor: "totp", remove });
}

/** @returns false when there is no such passkey. @throws LastFactor */
export function removePasskey(deps: ChangeDeps, change: FactorChange, id: string): Promise<boolean> {
  const remove = async (tx: Db) => (await deletePasskeys(tx, ownerOf(change.user), id)) > 0;
  return removing(deps, change, { action: "passkey.removed", factor: "passkey", remove });
}

async function removing(
  deps: ChangeDeps,
  change: FactorChange,
  removed: { action: AuditAction; factor: MailedFactor; remove(tx: Db): Promise<boolean> },
): Promise<boolean> {
  const now = deps.clock();
  const owner = ownerOf(change.user);
  return deps.database.transaction(async (tx) => {
    if (!(await hold(tx, change, now)) || !(await removed.remove(tx))) return false;
    if (!hasSecondFactor(await findFactorSummary(tx, owner))) {
      if (change.organisation.settings.secondFactor === "required") throw new LastFactor();
      await deleteRecoveryCodes(tx, owner);
      await forgetEverywhere(tx, change.user, now);
    }
    await record(deps, tx, change, removed.action);
    const notice = { template: "FactorRemoved", factor: removed.factor } as const;
    await sendNotice(tx, deps, change.user, notice, change.origin);
    return true;
  });
}

/** Wherever the account is a member: without a factor there is nothing that a browser could be remembered for. */
async function forgetEverywhere(tx: Db, { homeOrgId, id: userId }: User, now: number): Promise<void> {
  for (const orgId of await organisationsOfUser(tx, homeOrgId, userId))
    await revokeRememberedDevices(tx, { orgId, userId, now });
}

/** @returns false when there is no such passkey, and when it is called so already */
export function changePasskeyName(
  deps: ChangeDeps,
  change: FactorChange,
  named: { id: string; name: string },
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    if (!(await renamePasskey(tx, ownerOf(change.user), named))) return false;
    await record(deps, tx, change, "passkey.renamed", { name: named.name });
    return true;
  });
}

/** One browser, or all that are remembered in the organisation. @returns how many there were */
export function forgetDevices(deps: ChangeDeps, change: FactorChange, id?: string): Promise<number> {
  const which = { orgId: change.organisation.id, userId: change.user.id, now: deps.clock() };
  return deps.database.transaction(async (tx) => {
    const count = await revokeRememberedDevices(tx, id === undefined ? which : { ...which, id });
    if (count > 0) await record(deps, tx, change, "remembered-device.revoked", { count });
    return count;
  });
}

/** Everything goes: for somebody who lost it all. The password alone signs in until a new factor is added. */
export function resetFactors(deps: ChangeDeps, change: FactorChange): Promise<void> {
  const now = deps.clock();
  const owner = ownerOf(change.user);
  return deps.database.transaction(async (tx) => {
    await holdAccount(tx, change.user, now);
    const gone: MailedFactor[] = [];
    if (await deleteTotp(tx, owner)) gone.push("totp");
    if ((await deletePasskeys(tx, owner)) > 0) gone.push("passkey");
    await deleteRecoveryCodes(tx, owner);
    await forgetEverywhere(tx, change.user, now);
    await record(deps, tx, change, "second-factors.reset");
    for (const factor of gone)
      await sendNotice(tx, deps, change.user, { template: "FactorRemoved", factor }, change.origin);
  });
}

async function record(
  { clock }: NoticeDeps,
  tx: Db,
  { organisation, user, actor, origin, address = origin?.address }: FactorChange,
  action: AuditAction,
  details: Readonly<Record<string, string | number>> = {},
): Promise<void> {
  await recordAuditEvent(tx, {
    orgId: organisation.id,
    at: clock(),
    actor,
    action,
    target: user.id,
    address,
    details,
  });
}
