/** Finding system accounts, and the output of accounts and their public keys. */
import {
  isKeyActive,
  type SystemAccount,
  type SystemAccountKey,
} from "../../core/system-accounts/system-account.ts";
import { findSystemAccount, listKeys } from "../../core/system-accounts/system-accounts.store.ts";
import type { OrganisationCall } from "../command.ts";
import { enabledStatus, fields, formatTime, formatTimeOrNull, table, timeOrNever } from "../output.ts";
import { requireRecord } from "../with-service.ts";

export const accountRecord = (account: SystemAccount) => ({
  id: account.id,
  applicationId: account.applicationId,
  name: account.name,
  administrator: account.isAdministrator,
  requireStrictSignature: account.requiresStrictSignature,
  allowEndUserAddress: account.allowsEndUserAddress,
  permissions: account.permissions,
  createdAt: formatTime(account.createdAt),
  createdBy: account.createdBy,
  updatedAt: formatTime(account.updatedAt),
  lastUsedAt: formatTimeOrNull(account.lastUsedAt),
  disabledAt: formatTimeOrNull(account.disabledAt),
});

export const accountType = ({ isAdministrator }: SystemAccount): string =>
  isAdministrator ? "administrator" : "application";

export function accountFields(account: SystemAccount): string[] {
  return fields({
    id: account.id,
    name: account.name,
    type: accountType(account),
    application: account.applicationId,
    "also acts for": account.permissions.join(" ") || "(none)",
    signature: account.requiresStrictSignature ? "strict" : "any",
    "end user's address": account.allowsEndUserAddress ? "trusted" : "ignored",
    status: enabledStatus(account),
    "last used": timeOrNever(account.lastUsedAt),
    "created at": formatTime(account.createdAt),
    "created by": account.createdBy,
  });
}

export function keyTable(keys: readonly SystemAccountKey[], now: number): string[] {
  return table(
    ["PUBLIC KEY", "LABEL", "STATUS", "EXPIRES", "LAST USED"],
    keys.map((key) => [
      key.publicKey,
      key.label,
      key.revokedAt !== null ? "revoked" : isKeyActive(key, now) ? "active" : "expired",
      timeOrNever(key.expiresAt),
      timeOrNever(key.lastUsedAt),
    ]),
  );
}

/** The system account of the positional argument. @throws when it isn't in the organisation */
export const requireAccount = (call: OrganisationCall): Promise<SystemAccount> =>
  requireRecord(call, "system account", (id) =>
    findSystemAccount(call.service.database.query, call.organisation.id, id),
  );

/** Reads the account again, with its keys. @throws when deleted meanwhile */
export async function readAccount({ service, organisation }: OrganisationCall, id: string) {
  const { query } = service.database;
  const account = await findSystemAccount(query, organisation.id, id);
  if (!account) throw new Error("the system account no longer exists");
  return { account, keys: await listKeys(query, organisation.id, id) };
}
