/**
 * What a subject has by groups and roles: cached, and dropped on every node as anything of it changes (core/cache). Every
 * decision reads it from here: claims of tokens, access to applications, the answer to "why".
 */
import type { Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import { findApplication } from "../applications/applications.store.ts";
import { findIdsByAudience } from "../applications/audience.store.ts";
import { changeTrackingCache } from "../cache/record-cache.ts";
import type { RecordDeps } from "../record-changes.ts";
import type { Entitlements, HeldGroup } from "./entitlement.ts";
import { findEntitlementsOfClient, findEntitlementsOfUser } from "./entitlements.store.ts";

export interface EntitlementDirectory {
  ofUser(orgId: string, userId: string): Promise<Entitlements>;
  /** Of an application acting on its own behalf. */
  ofClient(orgId: string, clientId: string): Promise<Entitlements>;
  /** The applications whose access tokens have this audience, disabled ones too: resource servers go on. */
  applicationsFor(orgId: string, audience: string): Promise<readonly Application[]>;
}

export function entitlementDirectory(deps: RecordDeps): EntitlementDirectory {
  const db: Db = deps.database.query;
  const cache = changeTrackingCache<Entitlements>(deps, "entitlement", {
    capacity: 10_000,
    load: (orgId, key) => {
      const id = key.slice(2);
      return key.startsWith("u")
        ? findEntitlementsOfUser(db, { orgId, userId: id })
        : findEntitlementsOfClient(db, { orgId, id });
    },
  });
  const byAudience = changeTrackingCache<readonly Application[]>(deps, "application", {
    capacity: 5_000,
    load: async (orgId, audience) => {
      const ids = await findIdsByAudience(db, orgId, audience);
      const found = await Promise.all(ids.map((id) => findApplication(db, orgId, id)));
      return found.filter((one) => one !== undefined);
    },
  });
  const find = async (orgId: string, key: string) =>
    cache.peek(orgId, key) ?? (await cache.get(orgId, key)) ?? none;
  return {
    ofUser: (orgId, userId) => find(orgId, `u ${userId}`),
    ofClient: (orgId, clientId) => find(orgId, `c ${clientId}`),
    applicationsFor: async (orgId, audience) =>
      byAudience.peek(orgId, audience) ?? (await byAudience.get(orgId, audience)) ?? [],
  };
}

const none: Entitlements = { groups: new Map(), direct: [], outer: new Map(), roles: [], access: [] };

/**
 * The groups on a path from the subject to one of the targets, these included: those that a target can be reached from.
 * @param targets ids of groups that the subject is in
 */
export function groupsOnPaths({ groups, outer }: Entitlements, targets: ReadonlySet<string>): HeldGroup[] {
  const known = new Map<string, boolean>();
  const leads = (id: string): boolean => {
    const before = known.get(id);
    if (before !== undefined) return before;
    // Ends in any state of the rows, also in a cycle.
    known.set(id, targets.has(id));
    const found = targets.has(id) || (outer.get(id) ?? []).some(leads);
    known.set(id, found);
    return found;
  };
  return [...groups.values()].filter(({ id }) => leads(id));
}

/** The names of every group, sorted: what the path `membership:groups` of custom scopes tells. */
export const groupNames = ({ groups }: Entitlements): string[] =>
  [...new Set([...groups.values()].map(({ displayName }) => displayName))].sort();
