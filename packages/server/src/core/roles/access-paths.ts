/** Why a subject may, or may not: the paths by which it has a role, a permission, or the way into an application. */
import type { Entitlements, HeldRole } from "./entitlement.ts";
import { groupsOnPaths } from "./entitlements.ts";

export const reasons = ["allowed", "no-role", "not-assigned", "subject-disabled"] as const;
export const stepTypes = ["user", "group", "role", "permission"] as const;

export interface PathStep {
  readonly type: (typeof stepTypes)[number];
  readonly id?: string;
  /** Of a role its key, of a permission the permission. */
  readonly name: string;
}

type Path = readonly PathStep[];

export interface Explanation {
  readonly allowed: boolean;
  readonly reason: (typeof reasons)[number];
  /** The shortest first; none of a program that is asked for no role. */
  readonly paths: readonly Path[];
}

export interface Asked {
  /** Where paths begin: the user or the group; undefined for programs, whose first step is a role. */
  readonly subject: PathStep | undefined;
  readonly isDisabled: boolean;
  readonly held: Entitlements;
  /** Undefined: what the organisation's own roles give. */
  readonly application: { readonly id: string; readonly isOpen: boolean } | undefined;
  readonly permission: string | undefined;
  readonly role: string | undefined;
}

export const MAX_PATHS = 20;

export function explainAccess(asked: Asked): Explanation {
  if (asked.isDisabled) return denied("subject-disabled");
  const ways = waysIn(asked);
  // Programs sign in to no application.
  if (asked.subject && ways.length === 0) return denied("not-assigned");
  if (asked.permission === undefined && asked.role === undefined) return allowed(ways);
  const paths = pathsToRoles(asked);
  return paths.length === 0 ? denied("no-role") : allowed(paths);
}

const denied = (reason: Explanation["reason"]): Explanation => ({ allowed: false, reason, paths: [] });
const allowed = (paths: readonly Path[]): Explanation => ({ allowed: true, reason: "allowed", paths });

/** At once where everyone may, or where the user itself is assigned; else by groups. */
function waysIn({ subject, held, application }: Asked): readonly Path[] {
  if (!subject) return [];
  if (!application || application.isOpen) return [[subject]];
  const ofApplication = held.access.filter(({ applicationId }) => applicationId === application.id);
  const isAssigned = ofApplication.some(({ groupId }) => groupId === null);
  const groups = new Set(ofApplication.flatMap(({ groupId }) => groupId ?? []));
  const byGroup = pathsToGroups(held, groups).map(({ steps }) => [...startOf(subject), ...steps]);
  return [...(isAssigned ? [[subject]] : []), ...byGroup].slice(0, MAX_PATHS);
}

/** A group is the first of its own groups. */
const startOf = (subject: PathStep | undefined): Path => (subject?.type === "user" ? [subject] : []);

function pathsToRoles({ subject, held, application, permission, role }: Asked): readonly Path[] {
  const start = startOf(subject);
  const isAsked = (one: HeldRole) =>
    one.applicationId === (application?.id ?? null) &&
    (role === undefined || one.key === role) &&
    (permission === undefined || one.permissions.includes(permission));
  const roles = held.roles.filter(isAsked);
  const end = ({ id, key }: HeldRole): Path => [
    { type: "role", id, name: key },
    ...(permission === undefined ? [] : [{ type: "permission" as const, name: permission }]),
  ];
  const own = roles.filter(({ groupId }) => groupId === null).map((one) => [...start, ...end(one)]);
  const groups = new Set(roles.flatMap(({ groupId }) => groupId ?? []));
  const byGroup = pathsToGroups(held, groups).flatMap(({ groupId, steps }) =>
    roles.filter((one) => one.groupId === groupId).map((one) => [...start, ...steps, ...end(one)]),
  );
  return [...own, ...byGroup].slice(0, MAX_PATHS);
}

interface GroupPath {
  readonly groupId: string;
  readonly steps: Path;
}

/** There can be more ways through groups than anyone reads. */
const MAX_STEPS = 10_000;

/** The shortest first: outwards from the subject's own groups, through those that lead somewhere. */
function pathsToGroups(held: Entitlements, targets: ReadonlySet<string>): GroupPath[] {
  const leading = new Map(groupsOnPaths(held, targets).map((group) => [group.id, group]));
  const step = (id: string): PathStep => ({ type: "group", id, name: leading.get(id)?.displayName ?? "" });
  const found: GroupPath[] = [];
  const queue: GroupPath[] = held.direct
    .filter((id) => leading.has(id))
    .map((id) => ({ groupId: id, steps: [step(id)] }));
  for (let at = 0; at < queue.length && found.length < MAX_PATHS; at++) {
    const { groupId, steps } = queue[at] as GroupPath;
    if (targets.has(groupId)) found.push({ groupId, steps });
    for (const id of held.outer.get(groupId) ?? []) {
      // Ends in any state of the rows, also in a cycle.
      if (queue.length >= MAX_STEPS || !leading.has(id) || steps.some((one) => one.id === id)) continue;
      queue.push({ groupId: id, steps: [...steps, step(id)] });
    }
  }
  return found;
}
