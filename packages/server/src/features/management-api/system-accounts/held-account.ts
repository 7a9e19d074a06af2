/**
 * Before an administrator's account changes any system account. Whoever has all of an organisation can give nothing that
 * it has not: administrators' accounts may make others. What is guarded is that they stay:
 *
 * - A caller cannot shut itself out, so there is always an administrator's account left: the one that called last.
 * - The caller is looked at again, in the change's own transaction and with both accounts held. Two that delete each
 *   other at once come one after the other, and one that was shut out on another node makes no successor of its own.
 */
import type { FastifyRequest } from "fastify";
import type { SystemAccountCaller } from "../../../core/system-accounts/caller.ts";
import { isKeyActive, type SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { findByPublicKey, holdSystemAccount } from "../../../core/system-accounts/system-accounts.store.ts";
import { heldAccount, InvalidSystemAccount } from "../../../core/system-accounts/system-accounts.ts";
import { ApiError, invalid, notAuthenticated, notFound } from "../../../http/api/api-error.ts";
import { requireMatch } from "../../../http/api/concurrency.ts";
import { type ManagementDeps, namesNothing } from "../management.ts";

/** @param inside the change's transaction. @throws ApiError 401 */
export async function holdCaller(
  { database, clock }: ManagementDeps,
  { organisation, account, publicKey }: SystemAccountCaller,
  alsoHeld: readonly string[] = [],
): Promise<void> {
  // Always in one order, so that no two wait for each other.
  for (const id of [...new Set([account.id, ...alsoHeld])].sort())
    await holdSystemAccount(database.query, { orgId: organisation.id, id });
  const now = await findByPublicKey(database.query, publicKey);
  if (!now || now.account.disabledAt !== null || !isKeyActive(now.key, clock()))
    throw notAuthenticated("the caller was shut out meanwhile");
}

/** The account that a change is of, as the caller has read it when it says so. @throws ApiError 401, 404, 412 */
export async function accountToChange(
  inside: ManagementDeps,
  { caller, request }: { readonly caller: SystemAccountCaller; readonly request: FastifyRequest },
  id: string,
): Promise<SystemAccount> {
  await holdCaller(inside, caller, [id]);
  const account = await heldAccount(inside.database.query, caller.organisation.id, id);
  if (!account) throw notFound();
  requireMatch(request, account.version);
  return account;
}

/** @throws ApiError 409 */
export function requireOtherAccount({ account }: SystemAccountCaller, id: string): void {
  if (account.id !== id) return;
  throw new ApiError(409, "own-account", "A system account cannot shut itself out", {
    detail: "Use another administrator's account.",
  });
}

export function toAccountAnswer(error: unknown): never {
  if (!(error instanceof InvalidSystemAccount)) throw error;
  if (error.code === "unknown-application") throw namesNothing("/applicationId");
  if (error.code === "unknown-account") throw notFound();
  const paths = {
    "invalid-name": "/name",
    "invalid-label": "/label",
    "invalid-expiry": "/expiresAt",
  } as const;
  throw invalid([{ path: paths[error.code], message: error.message }]);
}
