/** The policy of clients that nobody has registered by hand: found on the hot path, and set. */
import { hasOwnOrStandardMeaning } from "../applications/defined-scopes.ts";
import { type Act, auditFields } from "../audit/audit.store.ts";
import { changeTrackingCache } from "../cache/record-cache.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { listCustomScopes } from "../scopes/scopes.store.ts";
import { findClientPolicy, writeClientPolicy } from "./client-policy.store.ts";
import { type ClientPolicy, type ClientPolicyContent, requireValidPolicy } from "./client-policy.ts";

export interface ClientPolicyDirectory {
  of(orgId: string): Promise<ClientPolicy>;
}

export function clientPolicyDirectory(deps: RecordDeps): ClientPolicyDirectory {
  const load = (orgId: string) => findClientPolicy(deps.database.query, orgId);
  const cache = changeTrackingCache<ClientPolicy>(deps, "client-policy", { capacity: 5_000, load });
  return { of: async (orgId) => cache.peek(orgId, "") ?? (await cache.get(orgId, "")) ?? load(orgId) };
}

/**
 * Replaces the policy.
 * @param check of the present one; throwing rolls back
 * @throws InvalidPolicy
 */
export function setClientPolicy(
  deps: RecordDeps,
  {
    content,
    check,
    ...act
  }: Act & { readonly content: ClientPolicyContent; check?(before: ClientPolicy): void },
): Promise<ClientPolicy> {
  const { orgId } = act;
  return deps.database.transaction(async (tx) => {
    await lockOrganisation(tx, orgId);
    const before = await findClientPolicy(tx, orgId);
    check?.(before);
    const defined = await listCustomScopes(tx, orgId);
    requireValidPolicy(
      content,
      (scope) => hasOwnOrStandardMeaning(scope) || defined.some(({ name }) => name === scope),
    );
    const now = deps.clock();
    const unique = {
      ...{ mode: content.mode, senderConstraint: content.senderConstraint },
      hosts: [...new Set(content.hosts)],
      allowedScopes: [...new Set(content.allowedScopes)],
      allowedResources: [...new Set(content.allowedResources)],
    };
    const policy = { ...before, ...unique, version: before.version + 1 };
    await writeClientPolicy(tx, policy, now);
    const { mode, hosts } = policy;
    const event = { action: "client-policy.changed" as const, target: orgId, details: { mode, hosts } };
    await recordChange(tx, deps, "client-policy", { ...auditFields(act, now), ...event });
    return { ...policy, createdAt: policy.createdAt ?? now, updatedAt: now };
  });
}
