/** Creates, changes and deletes groups. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import type { AuditAction } from "../audit/actions.ts";
import { type Act, auditFields } from "../audit/audit.store.ts";
import type { Connection } from "../connections/connection.ts";
import { lockConnection } from "../connections/connections.store.ts";
import { handOverClaims } from "../connections/sign-in/claimed-groups.store.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import {
  type Group,
  GroupConflict,
  type GroupContent,
  type GroupSource,
  InvalidGroup,
  validGroup,
} from "./group.ts";
import {
  deleteGroupRow,
  type GroupKey,
  insertGroup,
  isNameTaken,
  lockGroup,
  replaceGroup,
} from "./groups.store.ts";

/** The connection that acts, which alone changes its groups; undefined: the organisation itself, which changes local ones. */
export interface GroupAct extends Act {
  readonly connectionId?: string;
}

/** @throws InvalidGroup naming every fault, GroupConflict */
export async function createGroup(
  deps: RecordDeps,
  {
    content,
    source = "local",
    ...act
  }: GroupAct & { readonly content: GroupContent; readonly source?: Group["source"] },
): Promise<Group> {
  const now = deps.clock();
  const group: Group = {
    orgId: act.orgId,
    id: newUuid(),
    ...validGroup(content),
    source,
    connectionId: act.connectionId ?? null,
    createdAt: now,
    updatedAt: now,
    version: 1,
  };
  await deps.database.transaction(async (tx) => {
    if (!(await insertGroup(tx, group))) throw new GroupConflict("name-taken");
    await record(tx, deps, act, { action: "group.created", group });
  });
  return group;
}

/** Members of the content that are absent stay. */
export interface GroupChange extends GroupAct {
  readonly id: string;
  readonly content: Partial<GroupContent>;
  /** Of the group as it is now, locked; throwing rolls everything back. */
  readonly check?: (group: Group) => void | Promise<void>;
}

/** @returns undefined when there is no such group. @throws InvalidGroup naming every fault, GroupConflict */
export function changeGroup(
  deps: RecordDeps,
  { id, content, check, ...act }: GroupChange,
): Promise<Group | undefined> {
  return deps.database.transaction(async (tx) => {
    const before = await lockGroup(tx, { orgId: act.orgId, id });
    if (!before) return undefined;
    await check?.(before);
    const wanted = validGroup({ ...before, ...content });
    const changed = (["displayName", "description", "externalId"] as const).filter(
      (member) => wanted[member] !== before[member],
    );
    if (changed.length === 0) return before;
    // The description is the organisation's own word about a group, wherever the group comes from.
    if (changed.some((member) => member !== "description")) requireSource(before, act);
    const group = { ...before, ...wanted, updatedAt: deps.clock(), version: before.version + 1 };
    if (changed.includes("displayName") && (await isNameTaken(tx, group)))
      throw new GroupConflict("name-taken");
    if (!(await replaceGroup(tx, group))) throw new GroupConflict("name-taken");
    await record(tx, deps, act, { action: "group.changed", group, changed });
    return group;
  });
}

/**
 * Deletes the group: its members stay, without what they had by it.
 * @returns false when there is no such group. @throws GroupConflict
 */
export function deleteGroup(
  deps: RecordDeps,
  { id, check, ...act }: Omit<GroupChange, "content">,
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    // As nestings do it: what this deletes of them waits for theirs.
    await lockOrganisation(tx, act.orgId);
    const group = await lockGroup(tx, { orgId: act.orgId, id });
    if (!group) return false;
    await check?.(group);
    requireSource(group, act);
    await deleteGroupRow(tx, group);
    await record(tx, deps, act, { action: "group.deleted", group });
    return true;
  });
}

/**
 * Makes a connection the one that changes a group, or the organisation itself: null. @returns undefined when there is no such
 * group. @throws InvalidGroup when there is no such connection, GroupConflict when a group of the new source has its name
 */
export function handOverGroup(
  deps: RecordDeps,
  {
    orgId,
    id,
    check,
    to,
    ...act
  }: Omit<GroupChange, "content" | "connectionId"> & { readonly to: string | null },
): Promise<Group | undefined> {
  return deps.database.transaction(async (tx) => {
    // Before the group, as its deletion does.
    const connection = to === null ? undefined : await lockConnection(tx, { orgId, id: to });
    const before = await lockGroup(tx, { orgId, id });
    if (!before) return undefined;
    await check?.(before);
    if (to !== null && !connection)
      throw new InvalidGroup([{ path: "/connectionId", message: "names no connection of the organisation" }]);
    if (before.connectionId === to) return before;
    const source = sourceOf(connection);
    const now = deps.clock();
    const group = { ...before, source, connectionId: to, updatedAt: now, version: before.version + 1 };
    if (await isNameTaken(tx, group)) throw new GroupConflict("name-taken");
    if (!(await replaceGroup(tx, group))) throw new GroupConflict("name-taken");
    // Of a connection for signing in: its members follow their next sign-in by it.
    await handOverClaims(tx, group, source === "connection" ? to : null);
    await record(tx, deps, { orgId, ...act }, { action: "group.handed-over", group });
    return group;
  });
}

const sourceOf = (connection: Connection | undefined): GroupSource => {
  if (!connection) return "local";
  return connection.kind === "scim" ? "scim" : "connection";
};

/** @throws GroupConflict */
export function requireSource(
  { connectionId }: Pick<Group, "connectionId">,
  act: Pick<GroupAct, "connectionId">,
): void {
  if (connectionId !== (act.connectionId ?? null)) throw new GroupConflict("read-only-source");
}

const record = (
  tx: Db,
  deps: RecordDeps,
  act: Act,
  { action, group, changed }: { action: AuditAction; group: Group & GroupKey; changed?: readonly string[] },
): Promise<void> =>
  recordChange(tx, deps, "entitlement", {
    ...auditFields(act, deps.clock()),
    action,
    target: group.id,
    details: { name: group.displayName, ...(changed ? { changed } : {}) },
  });
