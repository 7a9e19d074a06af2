/** A member's roles and groups, each with how the member comes by it. */
import { selectNames } from "../../../core/audit/audit.store.ts";
import { type DirectGroup, findDirectGroups } from "../../../core/groups/named-groups.store.ts";
import { listAssignments } from "../../../core/roles/assignments.store.ts";
import type { HeldGroup } from "../../../core/roles/entitlement.ts";
import { findEntitlementsOfUser } from "../../../core/roles/entitlements.store.ts";
import { shortestGroupPaths } from "../../../core/roles/group-paths.ts";
import type { Db } from "../../../db/open.ts";

type Path = readonly HeldGroup[];

export interface UserRole {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly application: { readonly id: string; readonly name: string } | undefined;
  /** The member's own assignment, which can be taken away. */
  readonly assignmentId: string | undefined;
  /** Through groups, the nearest first. */
  readonly paths: readonly Path[];
}

export interface UserGroup extends HeldGroup {
  /** Of a member of the group itself. */
  readonly direct: DirectGroup | undefined;
  /** From the member's own group to this one. */
  readonly path: Path;
}

export interface RolesOfUser {
  readonly roles: readonly UserRole[];
  readonly groups: readonly UserGroup[];
  /** How many more there are than are shown. */
  readonly moreRoles: number;
  readonly moreGroups: number;
}

/** More than anyone reads on one page; the list of a group's members and of a role's assignments go on. */
const MAX_SHOWN = 100;
/** Ways to one role. */
const MAX_PATHS = 5;

export async function loadUserRoles(
  db: Db,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<RolesOfUser> {
  const held = await findEntitlementsOfUser(db, { orgId, userId });
  const paths = shortestGroupPaths(held);
  const direct = new Map((await findDirectGroups(db, { orgId, userId })).map((one) => [one.id, one]));
  const groups = [...paths].map(([id, path]) => ({
    ...(path.at(-1) as HeldGroup),
    direct: direct.get(id),
    path,
  }));
  const ways = [...Map.groupBy(held.roles, ({ id }) => id).values()];
  const shown = ways.slice(0, MAX_SHOWN);
  const names = await namesOf(
    db,
    orgId,
    "role",
    shown.map(([role]) => role?.id ?? ""),
  );
  const applications = await namesOf(
    db,
    orgId,
    "client",
    shown.flatMap(([role]) => role?.applicationId ?? []),
  );
  const assigned = { subjectType: "user", subjectId: userId } as const;
  const page = { of: assigned, isDescending: false, limit: held.roles.length + 1 };
  const own = new Map((await listAssignments(db, orgId, page)).map(({ id, roleId }) => [roleId, id]));
  const roles = shown.flatMap((all) => {
    const [role] = all;
    if (!role) return [];
    const { id, key, applicationId } = role;
    return {
      ...{ id, key, name: names.get(id) ?? key, assignmentId: own.get(id) },
      application:
        applicationId === null
          ? undefined
          : { id: applicationId, name: applications.get(applicationId) ?? applicationId },
      paths: pathsOf(all.map(({ groupId }) => paths.get(groupId ?? ""))),
    };
  });
  return {
    roles,
    groups: groups.slice(0, MAX_SHOWN),
    moreRoles: ways.length - shown.length,
    moreGroups: Math.max(0, groups.length - MAX_SHOWN),
  };
}

const pathsOf = (all: ReadonlyArray<Path | undefined>): readonly Path[] =>
  all
    .filter((path) => path !== undefined)
    .toSorted((one, other) => one.length - other.length)
    .slice(0, MAX_PATHS);

/** Databases limit the parameters of a statement: there are at most as many ids as rows are shown. */
const namesOf = async (db: Db, orgId: string, kind: "role" | "client", ids: readonly string[]) =>
  new Map((await selectNames(db, orgId, kind, [...new Set(ids)])).map(({ id, name }) => [id, name]));
