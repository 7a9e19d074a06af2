/** A grant as administrators see it: what a user let an application do, as long as tokens of it are good. Revoking ends them all. */
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { findGrant } from "./grants.store.ts";
import type { TokenFamily } from "./token-family.ts";
import { revokeTokenFamilies } from "./tokens.store.ts";

export interface IssuedGrant
  extends Pick<TokenFamily, "orgId" | "id" | "applicationId" | "userId" | "createdAt">,
    Pick<TokenFamily, "scopes" | "resources" | "authorizationDetails"> {
  readonly dpopJkt: string | null;
  readonly certificateThumbprint: string | null;
  /** Milliseconds: of the last refresh, or of the first tokens. */
  readonly lastUsedAt: number;
  readonly expiresAt: number;
}

/** What its tokens are bound to (RFC 7800); null: nothing. */
export function bindingOf({
  dpopJkt,
  certificateThumbprint,
}: Pick<IssuedGrant, "dpopJkt" | "certificateThumbprint">): Readonly<Record<string, string>> | null {
  if (dpopJkt === null && certificateThumbprint === null) return null;
  return {
    ...(dpopJkt === null ? {} : { jkt: dpopJkt }),
    ...(certificateThumbprint === null ? {} : { "x5t#S256": certificateThumbprint }),
  };
}

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
