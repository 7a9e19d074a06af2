/** Revoking a grant, with every token of it. */
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { findGrant } from "./grants.store.ts";
import { revokeTokenFamilies } from "./tokens.store.ts";

/**
 * Ends the refresh token and every access token of the grant, on every node: they look the family up.
 * @returns false when there is no such grant, or no longer
 */
export function revokeGrant(deps: CoreDeps, { id, ...act }: Act & { readonly id: string }): Promise<boolean> {
  const now = deps.clock();
  const { orgId } = act;
  return deps.database.transaction(async (tx) => {
    const grant = await findGrant(tx, { orgId, id, now });
    if (!grant || (await revokeTokenFamilies(tx, { orgId, id, now, reason: "grant_revoked" })) === 0)
      return false;
    const details = { grant: id, scopes: grant.scopes, userId: grant.userId };
    await recordAuditEvent(tx, {
      ...auditFields(act, now),
      action: "grant.revoked",
      target: grant.applicationId,
      details,
    });
    return true;
  });
}
