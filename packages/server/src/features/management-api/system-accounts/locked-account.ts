/**
 * Checks before an administrator's account changes any system account. An administrator's account may create others: that
 * grants nothing it doesn't have itself. What has to hold is that one remains:
 *
 * - A caller can't lock itself out, so the account that called last is always left.
 * - The caller is checked again in the transaction of the change, with both accounts locked. Two accounts that delete each
 *   other at once run one after the other, and one that was disabled on another node creates no successor.
 */
import type { FastifyRequest } from "fastify";
import {
  isKeyActive,
  type SystemAccount,
  type SystemAccountCaller,
} from "../../../core/system-accounts/system-account.ts";
import { findByPublicKey, lockSystemAccount } from "../../../core/system-accounts/system-accounts.store.ts";
import { InvalidSystemAccount, lockedSystemAccount } from "../../../core/system-accounts/system-accounts.ts";
import { ApiError, invalid, notAuthenticated, notFound } from "../../../http/api/api-error.ts";
import { requireMatch } from "../../../http/api/concurrency.ts";
import { type ManagementDeps, unknownReference } from "../management.ts";

/** @param inside the transaction of the change. @throws ApiError 401 */
export async function lockCaller(
  { database, clock }: ManagementDeps,
  { organisation, account, publicKey }: SystemAccountCaller,
  others: readonly string[] = [],
): Promise<void> {
  // Always in the same order, so that two requests can't deadlock.
  for (const id of [...new Set([account.id, ...others])].sort())
    await lockSystemAccount(database.query, { orgId: organisation.id, id });
  const current = await findByPublicKey(database.query, publicKey);
  if (!current || current.account.disabledAt !== null || !isKeyActive(current.key, clock()))
    throw notAuthenticated("the caller was disabled during the request");
}

/** The account to change, locked and of the version that `If-Match` names. @throws ApiError 401, 404, 412 */
export async function lockAccount(
  inside: ManagementDeps,
  { caller, request }: { readonly caller: SystemAccountCaller; readonly request: FastifyRequest },
  id: string,
): Promise<SystemAccount> {
  await lockCaller(inside, caller, [id]);
  const account = await lockedSystemAccount(inside.database.query, caller.organisation.id, id);
  if (!account) throw notFound();
  requireMatch(request, account.version);
  return account;
}

/** @throws ApiError 409 */
export function requireOtherAccount({ account }: SystemAccountCaller, id: string): void {
  if (account.id !== id) return;
  throw new ApiError(409, "own-account", "A system account cannot lock itself out", {
    detail: "Use another administrator's account.",
  });
}

export function toAccountAnswer(error: unknown): never {
  if (!(error instanceof InvalidSystemAccount)) throw error;
  if (error.code === "unknown-application") throw unknownReference("/applicationId");
  if (error.code === "unknown-account") throw notFound();
  const paths = {
    "invalid-name": "/name",
    "invalid-label": "/label",
    "invalid-expiry": "/expiresAt",
  } as const;
  throw invalid([{ path: paths[error.code], message: error.message }]);
}
