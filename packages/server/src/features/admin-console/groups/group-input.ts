/** The form of a group: what is typed, and its faults. */
import { type Group, GroupConflict, type GroupContent, InvalidGroup } from "../../../core/groups/group.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export type GroupInput = { displayName: string; description: string; externalId: string };

export const emptyGroup: GroupInput = { displayName: "", description: "", externalId: "" };

export const toGroupInput = ({ displayName, description, externalId }: Group): GroupInput => ({
  displayName,
  description: description ?? "",
  externalId: externalId ?? "",
});

/** A little more than any of them takes, so that the rule names the fault. */
const MAX_LETTERS = 1_000;

export function readGroupInput(values: ReadonlyMap<string, string>): GroupInput {
  const read = (name: keyof GroupInput) => (values.get(name) ?? "").trim().slice(0, MAX_LETTERS);
  return {
    displayName: read("displayName"),
    description: read("description"),
    externalId: read("externalId"),
  };
}

export const toGroupContent = ({ displayName, description, externalId }: GroupInput): GroupContent => ({
  displayName,
  description: description || null,
  externalId: externalId || null,
});

/** @returns undefined for what is not about the form */
export function groupFaults(
  error: unknown,
  { console: { groups: text } }: Messages,
): Record<string, string> | undefined {
  if (error instanceof InvalidGroup) {
    const names = error.faults.map(({ path }) => path.slice(1) as keyof GroupInput);
    return Object.fromEntries(names.map((name) => [name, text.faults[name]]));
  }
  if (!(error instanceof GroupConflict)) return undefined;
  if (error.code === "name-taken") return { displayName: text.faults.taken };
  return error.code === "read-only-source" ? { displayName: text.readOnly } : undefined;
}
