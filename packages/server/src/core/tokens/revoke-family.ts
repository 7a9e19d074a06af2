/** Revokes one token family and audits it, once: a family that is already revoked writes no second event. */
import type { Database } from "../../db/open.ts";
import { type AuditEvent, recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import { revokeTokenFamilies } from "./tokens.store.ts";

export interface FamilyRevocation {
  readonly orgId: string;
  readonly familyId: string;
  readonly reason: "code_replayed" | "refresh_token_replayed" | "revoked_by_client";
  /** The client that presented the code or token, and its network address. */
  readonly clientId: string;
  readonly address: string;
  readonly action: AuditEvent["action"];
  readonly userId: string | undefined;
}

export async function revokeFamily(
  deps: { readonly database: Database; readonly clock: Clock },
  { orgId, familyId, reason, clientId, address, action, userId }: FamilyRevocation,
): Promise<void> {
  const now = deps.clock();
  await deps.database.transaction(async (tx) => {
    if ((await revokeTokenFamilies(tx, { orgId, id: familyId, now, reason })) === 0) return;
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor: `client:${clientId}`,
      action,
      ...(userId === undefined ? {} : { target: userId }),
      address,
    });
  });
}
