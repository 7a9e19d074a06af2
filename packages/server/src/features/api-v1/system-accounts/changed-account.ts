/** The system account that a call changes: locked, and the caller's to change. */
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { listKeys } from "../../../core/system-accounts/system-accounts.store.ts";
import { InvalidSystemAccount, lockedSystemAccount } from "../../../core/system-accounts/system-accounts.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { type ApiCaller, requireHeld } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { unknownReference } from "../frame/member-faults.ts";
import type { ApiCall } from "../frame/resource-routes.ts";
import type { KeyedAccount } from "./system-account-record.ts";

/** An administrator's account can do what the organisation's settings can. @throws ApiError 403 exceeds-caller */
export function requireAdministrable(
  caller: ApiCaller,
  { isAdministrator }: Pick<SystemAccount, "isAdministrator">,
): void {
  if (isAdministrator) requireHeld(caller, "signet:organisation:write");
}

/** @param inside the transaction of the change. @throws ApiError 403, 404 */
export async function lockedAccount(
  inside: ApiDeps,
  { caller, params }: Pick<ApiCall, "caller" | "params">,
): Promise<KeyedAccount> {
  const { query } = inside.database;
  const { id: orgId } = caller.organisation;
  const account = await lockedSystemAccount(query, orgId, idOf(params));
  if (!account) throw notFound();
  requireAdministrable(caller, account);
  return { ...account, keys: await listKeys(query, orgId, account.id) };
}

const members = {
  ...{ "invalid-name": "/name", "invalid-label": "/label", "invalid-expiry": "/expiresAt" },
} as const;

export function toAccountAnswer(error: unknown): never {
  if (!(error instanceof InvalidSystemAccount)) throw error;
  if (error.code === "unknown-application") throw unknownReference("/applicationId");
  if (error.code === "unknown-account") throw notFound();
  throw invalid([{ path: members[error.code], message: error.message }]);
}
