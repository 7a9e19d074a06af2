/** How a subject is in its groups. */
import type { Entitlements, HeldGroup } from "./entitlement.ts";

/**
 * The shortest way to each of the subject's groups, by the group's id: the one that it is a member of itself first, the group
 * itself last. Ends in any state of the rows, also in a cycle.
 */
export function shortestGroupPaths({
  groups,
  direct,
  outer,
}: Pick<Entitlements, "groups" | "direct" | "outer">): ReadonlyMap<string, readonly HeldGroup[]> {
  const paths = new Map<string, readonly HeldGroup[]>();
  const reach = (id: string, path: readonly HeldGroup[]) => {
    const group = groups.get(id);
    if (group && !paths.has(id)) paths.set(id, [...path, group]);
  };
  for (const id of direct) reach(id, []);
  // A map that grows is walked to its end: the nearest groups come first.
  for (const [id, path] of paths) for (const further of outer.get(id) ?? []) reach(further, path);
  return paths;
}
