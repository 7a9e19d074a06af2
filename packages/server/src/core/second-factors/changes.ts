/**
 * Adding and removing what a user proves themselves with. Each change is one transaction that holds the account, so that
 * two at once cannot both believe that the other's factor stays; each leaves its mark in the audit log.
 */
import type { Database, Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/store.ts";
import type { Clock } from "../clock.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { holdAccount } from "../users/store.ts";
import type { User } from "../users/user.ts";
import type { Passkey } from "./passkeys/passkey.ts";
import { deletePasskeys, insertPasskey, renamePasskey } from "./passkeys/store.ts";
import { makeRecoveryCodes } from "./recovery-codes/recovery-codes.ts";
import { deleteRecoveryCodes } from "./recovery-codes/store.ts";
import { revokeRememberedDevices, revokeRememberedDevicesEverywhere } from "./remembered-devices/store.ts";
import { hasSecondFactor } from "./second-factor.ts";
import { ownerOf } from "./standing.ts";
import { findFactorSummary } from "./store.ts";
import { deleteTotp } from "./totp/store.ts";
import { addTotp, type TotpDeps } from "./totp/totp.ts";

/** Who changes whose factors, from where. */
export interface FactorChange {
  /** The user's home organisation: no other changes an account. */
  readonly organisation: Organisation;
  readonly user: Pick<User, "id" | "orgId" | "homeOrgId">;
  readonly actor: string;
  readonly address?: string;
  readonly now: number;
}

/** The organisation wants everybody to have a second factor, and this was the last. */
export class LastFactor extends Error {
  constructor() {
    super("the organisation wants everybody to have a second factor: add another before removing this one");
    this.name = "LastFactor";
  }
}

/** @returns recovery codes for who had none: to be shown, this once */
export async function confirmTotp(
  deps: TotpDeps,
  tx: Db,
  change: FactorChange,
  added: { secret: string; step: number },
): Promise<readonly string[]> {
  const owner = ownerOf(change.user);
  await holdAccount(tx, change.user, change.now);
  await addTotp(deps, tx, owner, { ...added, now: change.now });
  await record(tx, change, "authenticator.added");
  return firstRecoveryCodes(tx, change);
}

/** @returns recovery codes for who had none; undefined when the credential is registered already */
export async function addPasskey(
  tx: Db,
  change: FactorChange,
  passkey: Passkey,
): Promise<readonly string[] | undefined> {
  await holdAccount(tx, change.user, change.now);
  if (!(await insertPasskey(tx, ownerOf(change.user), passkey))) return undefined;
  await record(tx, change, "passkey.added", { name: passkey.name });
  return firstRecoveryCodes(tx, change);
}

async function firstRecoveryCodes(tx: Db, change: FactorChange): Promise<readonly string[]> {
  const { recoveryCodes } = await findFactorSummary(tx, ownerOf(change.user));
  return recoveryCodes > 0 ? [] : renewRecoveryCodes(tx, change);
}

/** The codes that were there stop working. @returns ten new ones, to be shown this once */
export async function renewRecoveryCodes(tx: Db, change: FactorChange): Promise<readonly string[]> {
  await holdAccount(tx, change.user, change.now);
  const codes = await makeRecoveryCodes(tx, ownerOf(change.user), change.now);
  await record(tx, change, "recovery-codes.made");
  return codes;
}

export interface ChangeDeps {
  readonly database: Database;
  readonly clock: Clock;
}

type Change = Omit<FactorChange, "now">;

/** @returns false when there is none. @throws LastFactor */
export function removeTotp(deps: ChangeDeps, change: Change): Promise<boolean> {
  return removing(deps, change, "authenticator.removed", (tx) => deleteTotp(tx, ownerOf(change.user)));
}

/** @returns false when there is no such passkey. @throws LastFactor */
export function removePasskey(deps: ChangeDeps, change: Change, id: string): Promise<boolean> {
  return removing(
    deps,
    change,
    "passkey.removed",
    async (tx) => (await deletePasskeys(tx, ownerOf(change.user), id)) > 0,
  );
}

async function removing(
  deps: ChangeDeps,
  input: Change,
  action: string,
  remove: (tx: Db) => Promise<boolean>,
): Promise<boolean> {
  const change = { ...input, now: deps.clock() };
  const owner = ownerOf(change.user);
  return deps.database.transaction(async (tx) => {
    await holdAccount(tx, change.user, change.now);
    if (!(await remove(tx))) return false;
    if (!hasSecondFactor(await findFactorSummary(tx, owner))) {
      if (change.organisation.settings.secondFactor === "required") throw new LastFactor();
      await deleteRecoveryCodes(tx, owner);
      await revokeRememberedDevicesEverywhere(tx, { ...owner, now: change.now });
    }
    await record(tx, change, action);
    return true;
  });
}

/** @returns false when there is no such passkey */
export function changePasskeyName(
  deps: ChangeDeps,
  input: Change,
  named: { id: string; name: string },
): Promise<boolean> {
  const change = { ...input, now: deps.clock() };
  return deps.database.transaction(async (tx) => {
    if (!(await renamePasskey(tx, ownerOf(change.user), named))) return false;
    await record(tx, change, "passkey.renamed", { name: named.name });
    return true;
  });
}

/** One browser, or all that are remembered in the organisation. @returns how many there were */
export function forgetDevices(deps: ChangeDeps, input: Change, id?: string): Promise<number> {
  const change = { ...input, now: deps.clock() };
  return deps.database.transaction(async (tx) => {
    const which = { orgId: change.organisation.id, userId: change.user.id, now: change.now };
    const count = await revokeRememberedDevices(tx, id === undefined ? which : { ...which, id });
    if (count > 0) await record(tx, change, "remembered-device.revoked", { count });
    return count;
  });
}

/** Everything goes: for somebody who lost it all. The password alone signs in until a new factor is added. */
export function resetFactors(deps: ChangeDeps, input: Change): Promise<void> {
  const change = { ...input, now: deps.clock() };
  const owner = ownerOf(change.user);
  return deps.database.transaction(async (tx) => {
    await holdAccount(tx, change.user, change.now);
    await deleteTotp(tx, owner);
    await deletePasskeys(tx, owner);
    await deleteRecoveryCodes(tx, owner);
    await revokeRememberedDevicesEverywhere(tx, { ...owner, now: change.now });
    await record(tx, change, "second-factors.reset");
  });
}

async function record(
  tx: Db,
  { organisation, user, actor, address, now }: FactorChange,
  action: string,
  details: Readonly<Record<string, string | number>> = {},
): Promise<void> {
  await recordAuditEvent(tx, {
    orgId: organisation.id,
    at: now,
    actor,
    action,
    target: user.id,
    ...(address === undefined ? {} : { address }),
    details,
  });
}
