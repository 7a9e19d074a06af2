/**
 * Adds, removes and resets second factors. Each change locks the account for its transaction, so that two concurrent removals
 * can't both rely on the other's factor. Each is audited, and the user is notified by email.
 */
import type { Db } from "../../db/open.ts";
import type { AuditAction } from "../audit/actions.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { MailedFactor } from "../mail/mail.ts";
import { type Notice, type NoticeDeps, type NoticeOrigin, sendNotice } from "../mail/notices.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { offersFactor, requiresPasskeys, type SecondFactorMethod } from "../organisations/sign-in-methods.ts";
import { type Assurance, assurance } from "../sessions/session.ts";
import { lockUserAccount } from "../users/account.store.ts";
import { requireAnotherBreakGlass } from "../users/leaving/last-administrator.ts";
import { organisationsOfUser } from "../users/members/members.store.ts";
import type { User } from "../users/user.ts";
import { factorOwner } from "./factor-status.ts";
import { deleteFactorResetRequest } from "./lost-factors/lost-factors.store.ts";
import { deletePasskeys, insertPasskey, renamePasskey } from "./passkeys/passkeys.store.ts";
import { MAX_PASSKEYS, type Passkey } from "./passkeys/passkeys.ts";
import { createRecoveryCodes } from "./recovery-codes/recovery-codes.ts";
import { type FactorSummary, hasSecondFactor, mustVerifyFactor } from "./second-factor.ts";
import { deleteRecoveryCodes, deleteTotp, findFactorSummary } from "./second-factors.store.ts";
import { addTotp, type TotpDeps } from "./totp/totp.ts";
import { revokeTrustedBrowsers } from "./trusted-browsers/trusted-browsers.store.ts";

export interface FactorChange {
  /** The user's home organisation. */
  readonly organisation: Organisation;
  readonly user: User;
  readonly actor: string;
  readonly origin?: NoticeOrigin;
  /** The administrator's, for the audit log; not disclosed to the user. */
  readonly address?: string;
  /** The assurance of the session; undefined for an operator. */
  readonly reached?: Assurance;
}

/** The organisation requires a second factor, and this is the user's last. */
export class LastFactor extends Error {
  constructor() {
    super("the organisation requires a second factor: add another before removing this one");
    this.name = "LastFactor";
  }
}

/** The organisation signs in with passkeys only, and this is the user's last. */
export class LastPasskey extends Error {
  constructor() {
    super("the organisation signs in with passkeys only: add another before removing this one");
    this.name = "LastPasskey";
  }
}

/** Pages don't show what isn't offered: this is for requests that were made up. */
export class FactorNotOffered extends Error {
  constructor(method: SecondFactorMethod) {
    super(`the organisation does not offer ${method}`);
    this.name = "FactorNotOffered";
  }
}

/** @throws FactorNotOffered */
function requireOffered({ organisation }: FactorChange, method: SecondFactorMethod): void {
  if (!offersFactor(organisation.settings, method)) throw new FactorNotOffered(method);
}

/**
 * Locks the account and reads its factors again: an enrolment that came first must be verified before another change, so
 * that the password alone never replaces a factor.
 * @returns undefined when the session must verify a factor first
 */
async function lockFactors(tx: Db, change: FactorChange, now: number): Promise<FactorSummary | undefined> {
  await lockUserAccount(tx, change.user, now);
  const summary = await findFactorSummary(tx, factorOwner(change.user));
  const { reached = assurance.multiFactor } = change;
  return mustVerifyFactor(summary) && reached < assurance.multiFactor ? undefined : summary;
}

/** @returns the first recovery codes, if there were none; undefined when an existing factor must be verified first */
export async function confirmTotp(
  deps: NoticeDeps & TotpDeps,
  tx: Db,
  change: FactorChange,
  added: { secret: string; step: number },
): Promise<readonly string[] | undefined> {
  requireOffered(change, "totp");
  const now = deps.clock();
  const summary = await lockFactors(tx, change, now);
  if (!summary) return undefined;
  await addTotp(deps, tx, factorOwner(change.user), { ...added, now });
  await record(deps, tx, change, "authenticator.added");
  await notify(deps, tx, change, { template: "FactorAdded", factor: "totp" });
  return firstRecoveryCodes(deps, tx, change, summary);
}

/**
 * @returns the first recovery codes, if there were none; undefined when the passkey is registered already, the account has
 * the maximum, or an existing factor must be verified first
 */
export async function addPasskey(
  deps: NoticeDeps,
  tx: Db,
  change: FactorChange,
  passkey: Passkey,
): Promise<readonly string[] | undefined> {
  requireOffered(change, "passkey");
  const summary = await lockFactors(tx, change, deps.clock());
  if (!summary || summary.passkeys >= MAX_PASSKEYS) return undefined;
  if (!(await insertPasskey(tx, factorOwner(change.user), passkey))) return undefined;
  await record(deps, tx, change, "passkey.added", { name: passkey.name });
  await notify(deps, tx, change, { template: "FactorAdded", factor: "passkey" });
  return firstRecoveryCodes(deps, tx, change, summary);
}

async function firstRecoveryCodes(
  deps: NoticeDeps,
  tx: Db,
  change: FactorChange,
  { recoveryCodes }: FactorSummary,
): Promise<readonly string[]> {
  if (recoveryCodes > 0) return [];
  const codes = await createRecoveryCodes(tx, factorOwner(change.user), deps.clock());
  await record(deps, tx, change, "recovery-codes.made");
  return codes;
}

type ChangeDeps = CoreDeps & NoticeDeps;

/** @returns ten new codes instead of the old; undefined without a factor, or when it must be verified first */
export function renewRecoveryCodes(
  deps: ChangeDeps,
  change: FactorChange,
): Promise<readonly string[] | undefined> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const summary = await lockFactors(tx, change, now);
    if (!summary || !hasSecondFactor(summary)) return undefined;
    const codes = await createRecoveryCodes(tx, factorOwner(change.user), now);
    await record(deps, tx, change, "recovery-codes.made");
    await notify(deps, tx, change, { template: "FactorAdded", factor: "recovery-codes" });
    return codes;
  });
}

/** @returns false when there is none. @throws LastFactor, LastPasskey, LastBreakGlassAdministrator */
export function removeTotp(deps: ChangeDeps, change: FactorChange): Promise<boolean> {
  const deleteFactor = (tx: Db) => deleteTotp(tx, factorOwner(change.user));
  return remove(deps, change, { action: "authenticator.removed", factor: "totp", deleteFactor });
}

/** @returns false when there is no such passkey. @throws LastFactor, LastPasskey, LastBreakGlassAdministrator */
export function removePasskey(deps: ChangeDeps, change: FactorChange, id: string): Promise<boolean> {
  const deleteFactor = async (tx: Db) => (await deletePasskeys(tx, factorOwner(change.user), id)) > 0;
  return remove(deps, change, { action: "passkey.removed", factor: "passkey", deleteFactor });
}

async function remove(
  deps: ChangeDeps,
  change: FactorChange,
  removed: { action: AuditAction; factor: MailedFactor; deleteFactor(tx: Db): Promise<boolean> },
): Promise<boolean> {
  const now = deps.clock();
  const owner = factorOwner(change.user);
  return deps.database.transaction(async (tx) => {
    if (!(await lockFactors(tx, change, now)) || !(await removed.deleteFactor(tx))) return false;
    const left = await findFactorSummary(tx, owner);
    await requireWayIn(tx, change, removed.factor, left);
    if (!hasSecondFactor(left)) {
      await requireAnotherBreakGlass(tx, { orgId: owner.homeOrgId, userId: owner.userId });
      await deleteRecoveryCodes(tx, owner);
      await revokeAllTrustedBrowsers(tx, change.user, now);
    }
    await record(deps, tx, change, removed.action);
    await notify(deps, tx, change, { template: "FactorRemoved", factor: removed.factor });
    return true;
  });
}

/**
 * By the policy as it is in this transaction: the organisation may have changed it since the request began. Whoever changes it
 * holds the account first and then the organisation, as here, and looks at the factors of that account.
 */
async function requireWayIn(
  tx: Db,
  { organisation }: FactorChange,
  removed: MailedFactor,
  left: FactorSummary,
): Promise<void> {
  const { settings } = (await lockOrganisation(tx, organisation.id)) ?? organisation;
  if (removed === "passkey" && left.passkeys === 0 && requiresPasskeys(settings)) throw new LastPasskey();
  if (!hasSecondFactor(left) && settings.secondFactor === "required") throw new LastFactor();
}

/** In every organisation of the account: without a factor there is nothing to skip. */
async function revokeAllTrustedBrowsers(tx: Db, { homeOrgId, id: userId }: User, now: number): Promise<void> {
  for (const orgId of await organisationsOfUser(tx, homeOrgId, userId))
    await revokeTrustedBrowsers(tx, { orgId, userId, now });
}

/** @returns false when there is no such passkey, or it has this name already */
export function changePasskeyName(
  deps: ChangeDeps,
  change: FactorChange,
  passkey: { id: string; name: string },
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    if (!(await renamePasskey(tx, factorOwner(change.user), passkey))) return false;
    await record(deps, tx, change, "passkey.renamed", { name: passkey.name });
    return true;
  });
}

/** One trusted browser, or all in the organisation. @returns how many there were */
export function forgetTrustedBrowsers(deps: ChangeDeps, change: FactorChange, id?: string): Promise<number> {
  const key = { orgId: change.organisation.id, userId: change.user.id, now: deps.clock() };
  return deps.database.transaction(async (tx) => {
    const count = await revokeTrustedBrowsers(tx, id === undefined ? key : { ...key, id });
    if (count > 0) await record(deps, tx, change, "remembered-device.revoked", { count });
    return count;
  });
}

/**
 * Removes every factor of a user who has lost them. The password alone signs in until a new one is enrolled.
 * @throws LastBreakGlassAdministrator
 */
export function resetFactors(deps: ChangeDeps, change: FactorChange): Promise<void> {
  const now = deps.clock();
  const owner = factorOwner(change.user);
  return deps.database.transaction(async (tx) => {
    await lockUserAccount(tx, change.user, now);
    if (mustVerifyFactor(await findFactorSummary(tx, owner)))
      await requireAnotherBreakGlass(tx, { orgId: owner.homeOrgId, userId: owner.userId });
    const removed: MailedFactor[] = [];
    if (await deleteTotp(tx, owner)) removed.push("totp");
    if ((await deletePasskeys(tx, owner)) > 0) removed.push("passkey");
    await deleteRecoveryCodes(tx, owner);
    await deleteFactorResetRequest(tx, owner);
    await revokeAllTrustedBrowsers(tx, change.user, now);
    await record(deps, tx, change, "second-factors.reset");
    for (const factor of removed) await notify(deps, tx, change, { template: "FactorRemoved", factor });
  });
}

const notify = (deps: NoticeDeps, tx: Db, { user, origin }: FactorChange, notice: Notice): Promise<void> =>
  sendNotice(tx, deps, user, notice, origin);

async function record(
  { clock }: NoticeDeps,
  tx: Db,
  { organisation, user, actor, origin, address = origin?.address }: FactorChange,
  action: AuditAction,
  details: Readonly<Record<string, string | number>> = {},
): Promise<void> {
  const act = { orgId: organisation.id, at: clock(), actor, address };
  await recordAuditEvent(tx, { ...act, action, target: user.id, details });
}
