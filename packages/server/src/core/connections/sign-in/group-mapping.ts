/** Which groups a provider's claims put a user in (connections.md §4, `mapping.groups`). */
import { isUuid } from "@signet/protocol/hash";
import { type Claims, evaluateSigned, expressionFault, isStorable } from "./mapping.ts";
import type { GroupMapping, SettingsFault } from "./sign-in-settings.ts";

export const MAX_MAPPED_GROUPS = 500;
const MAX_VALUE = 255;
/** Of one claim: whoever is in more groups than that keeps those that come first. */
const MAX_CLAIMED = 2_000;

export function groupMappingFaults(mapping: GroupMapping | null): SettingsFault[] {
  if (mapping === null) return [];
  const path = "/mapping/groups";
  const { from, map, ...others } = mapping as GroupMapping & Readonly<Record<string, unknown>>;
  const unknown = Object.keys(others).map((name) => ({
    path: `${path}/${pointer(name)}`,
    message: "is no member of groups",
  }));
  const fault = expressionFault(from);
  const expression = fault === undefined ? [] : [{ path: `${path}/from`, message: fault }];
  if (typeof map !== "object" || map === null || Array.isArray(map))
    return [...unknown, ...expression, { path: `${path}/map`, message: "has a group's id by each value" }];
  const entries = Object.entries(map);
  if (entries.length > MAX_MAPPED_GROUPS)
    return [...unknown, { path: `${path}/map`, message: `has at most ${MAX_MAPPED_GROUPS} values` }];
  const faults = entries.flatMap(([value, id]): SettingsFault[] => {
    const at = `${path}/map/${pointer(value)}`;
    if (value === "" || value.length > MAX_VALUE || !isStorable(value))
      return [{ path: at, message: `is a value of 1 to ${MAX_VALUE} characters` }];
    return typeof id === "string" && isUuid(id) ? [] : [{ path: at, message: "is the id of a group" }];
  });
  return [...unknown, ...expression, ...faults];
}

/** RFC 6901 §3. */
export const pointer = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** The ids of the groups whose values are claimed; values that are not mapped mean nothing. */
export function claimedGroupIds(
  mapping: GroupMapping | null | undefined,
  claims: Claims,
  signed: Claims = claims,
): string[] {
  if (!mapping) return [];
  const value = evaluateSigned(mapping.from, claims, signed);
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  const ids = all.slice(0, MAX_CLAIMED).flatMap((one) => {
    const text = typeof one === "number" || typeof one === "boolean" ? String(one) : one;
    if (typeof text !== "string" || !Object.hasOwn(mapping.map, text)) return [];
    return mapping.map[text] ?? [];
  });
  return [...new Set(ids)].sort();
}
