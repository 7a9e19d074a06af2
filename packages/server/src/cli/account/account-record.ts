/** A system account as operators see it; never a secret key. */

import {
  isKeyActive,
  type SystemAccount,
  type SystemAccountKey,
} from "../../core/system-accounts/system-account.ts";
import { findSystemAccount, listKeys } from "../../core/system-accounts/system-accounts.store.ts";
import type { Service } from "../../modules/open-service.ts";
import { fields, stateOf, table, time, timeOrNull } from "../answer.ts";

export const keyRecord = (key: SystemAccountKey) => ({
  publicKey: key.publicKey,
  label: key.label,
  createdAt: time(key.createdAt),
  expiresAt: timeOrNull(key.expiresAt),
  revokedAt: timeOrNull(key.revokedAt),
  lastUsedAt: timeOrNull(key.lastUsedAt),
});

export const accountRecord = (account: SystemAccount) => ({
  id: account.id,
  applicationId: account.applicationId,
  name: account.name,
  administrator: account.isAdministrator,
  requireStrictSignature: account.requiresStrictSignature,
  permissions: account.permissions,
  createdAt: time(account.createdAt),
  createdBy: account.createdBy,
  updatedAt: time(account.updatedAt),
  lastUsedAt: timeOrNull(account.lastUsedAt),
  disabledAt: timeOrNull(account.disabledAt),
});

export const kindOf = ({ isAdministrator }: SystemAccount): string =>
  isAdministrator ? "administrator" : "plain";

export function accountFields(account: SystemAccount): string[] {
  return fields({
    id: account.id,
    name: account.name,
    kind: kindOf(account),
    application: account.applicationId,
    "also for": account.permissions.join(" ") || "(no other application)",
    signature: account.requiresStrictSignature ? "the strict form only" : "either form",
    state: stateOf(account.disabledAt),
    "last used": shownTime(account.lastUsedAt),
    "created at": time(account.createdAt),
    "created by": account.createdBy,
  });
}

export function keyTable(keys: readonly SystemAccountKey[], now: number): string[] {
  return table(
    ["PUBLIC KEY", "LABEL", "STATE", "EXPIRES", "LAST USED"],
    keys.map((key) => [
      key.publicKey,
      key.label,
      key.revokedAt !== null ? "revoked" : isKeyActive(key, now) ? "active" : "expired",
      shownTime(key.expiresAt),
      shownTime(key.lastUsedAt),
    ]),
  );
}

const shownTime = (milliseconds: number | null): string => timeOrNull(milliseconds) ?? "never";

/** The account as it is now, with its keys. @throws when it is gone */
export async function readAccount({ database }: Service, { orgId, id }: { orgId: string; id: string }) {
  const account = await findSystemAccount(database.query, orgId, id);
  if (!account) throw new Error("the system account is gone");
  return { account, keys: await listKeys(database.query, orgId, id) };
}
