/** Groups as SCIM resources of a connection. */
import { type Resource, ScimFault } from "@signet/protocol/scim/attribute";
import type { Filter } from "@signet/protocol/scim/filter-syntax";
import { GROUP_SCHEMA, groupType } from "@signet/protocol/scim/group-schema";
import { matcherOf } from "@signet/protocol/scim/match";
import { membersOf, readGroupPatch } from "@signet/protocol/scim/members-change";
import { readResource } from "@signet/protocol/scim/read-resource";
import {
  changeScimGroup,
  createScimGroup,
  deleteScimGroup,
} from "../../core/provisioning/provision-groups.ts";
import {
  countScimGroups,
  findScimGroup,
  type GroupNarrowing,
  listScimGroups,
  type ScimGroupRow,
} from "../../core/provisioning/scim-groups.store.ts";
import { listShownMembers, type ShownMember } from "../../core/provisioning/scim-members.store.ts";
import type { Db } from "../../db/open.ts";
import { wireTime } from "../../http/api/times.ts";
import { requireTag, tagOf } from "./etag.ts";
import { filteredRows, type Rows } from "./filtered-rows.ts";
import { conjuncts, equalityIn, isPathOf, type ListRequest, mentions } from "./list-request.ts";
import type { Page, ScimCaller, ScimDeps, ScimResources, Shown, Wants } from "./scim-call.ts";

const whereOf = ({ connection }: ScimCaller) => ({ orgId: connection.orgId, connectionId: connection.id });

export function scimGroups(deps: ScimDeps): ScimResources {
  const db = deps.database.query;
  const show = async (caller: ScimCaller, row: ScimGroupRow, wants: Wants): Promise<Shown> => {
    const [shown] = await shownGroups(db, caller, [row], wants("members"));
    if (!shown) throw new ScimFault(404, undefined, "There is no such group.");
    return shown;
  };
  return {
    type: groupType,
    find: async (caller, id, wants) => {
      const row = await findScimGroup(db, whereOf(caller), id);
      return row && show(caller, row, wants);
    },
    list: (caller, request, wants) => listGroups(db, caller, request, wants),
    create: async (caller, body, wants) => {
      const { members: _, ...resource } = readResource(groupType, body);
      const members = membersOf({ members: _ });
      return show(caller, await createScimGroup(deps, caller, { resource, members }), wants);
    },
    replace: async (caller, id, body, { ifMatch, wants }) => {
      const resource = readResource(groupType, body);
      const add = new Set(membersOf(resource));
      const change = async (row: ScimGroupRow) => {
        requireTag(ifMatch, versionOf(row));
        return { resource, members: { replaces: true, add, remove: new Set<string>() } };
      };
      return show(caller, await changeScimGroup(deps, caller, { id, added: [...add], change }), wants);
    },
    patch: async (caller, id, body, condition) =>
      show(caller, await patchGroup(deps, caller, { id, body, ifMatch: condition.ifMatch }), condition.wants),
    remove: (caller, id, { ifMatch }) =>
      deleteScimGroup(deps, caller, { id, check: (row) => requireTag(ifMatch, versionOf(row)) }),
  };
}

interface GroupPatchCall {
  readonly id: string;
  readonly body: unknown;
  readonly ifMatch: string | undefined;
}

function patchGroup(
  deps: ScimDeps,
  caller: ScimCaller,
  { id, body, ifMatch }: GroupPatchCall,
): Promise<ScimGroupRow> {
  const { members, patch } = readGroupPatch(body);
  return changeScimGroup(deps, caller, {
    id,
    added: members && [...members.add],
    change: async (row, inside) => {
      requireTag(ifMatch, versionOf(row));
      const content = contentOf(row);
      if (members) return { resource: patch(content), members };
      const present = await listShownMembers(inside.database.query, whereOf(caller), [id]);
      const resource = patch({ ...content, members: present.map((one) => shownMember(caller, one)) });
      return {
        resource,
        members: { replaces: true, add: new Set(membersOf(resource)), remove: new Set() },
      };
    },
  });
}

const contentOf = ({ displayName, externalId }: ScimGroupRow): Resource => ({
  ...(externalId !== null && { externalId }),
  displayName,
});

/** Of members that went with their accounts, the number tells. */
const versionOf = ({ id, version, membersChangedAt, memberCount }: ScimGroupRow): string =>
  tagOf({ id, version, membersChangedAt, memberCount });

const shownMember = ({ root }: Pick<ScimCaller, "root">, { id, type }: ShownMember) => ({
  value: id,
  $ref: `${root}/${type === "user" ? "Users" : "Groups"}/${id}`,
  type: type === "user" ? "User" : "Group",
});

/** In the order of the rows. */
async function shownGroups(
  db: Db,
  caller: ScimCaller,
  rows: readonly ScimGroupRow[],
  withMembers: boolean,
): Promise<Shown[]> {
  const ids = rows.filter(({ memberCount }) => memberCount > 0).map(({ id }) => id);
  const members = withMembers ? await listShownMembers(db, whereOf(caller), ids) : [];
  const byGroup = Map.groupBy(members, ({ groupId }) => groupId);
  return rows.map((row) => {
    const own = byGroup.get(row.id)?.map((one) => shownMember(caller, one)) ?? [];
    const changedAt = Math.max(row.updatedAt, row.membersChangedAt ?? 0);
    const times = { created: wireTime(row.createdAt), lastModified: wireTime(changedAt) };
    const location = `${caller.root}/Groups/${row.id}`;
    return {
      ...{ schemas: [GROUP_SCHEMA], id: row.id, ...contentOf(row) },
      ...(own.length > 0 && { members: own }),
      meta: { resourceType: "Group", ...times, location, version: versionOf(row) },
    };
  });
}

/** More members than that end a page: a group may have a hundred thousand. */
const MAX_MEMBERS_OF_PAGE = 50_000;

async function listGroups(db: Db, caller: ScimCaller, request: ListRequest, wants: Wants): Promise<Page> {
  const { rows, total, hasMore } = await listedRows(db, caller, request);
  const withMembers = wants("members");
  let members = 0;
  const fitting = rows.filter(({ memberCount }, at) => {
    members += withMembers ? memberCount : 0;
    return at === 0 || members <= MAX_MEMBERS_OF_PAGE;
  });
  const resources = await shownGroups(db, caller, fitting, withMembers);
  return { resources, total, hasMore: hasMore || fitting.length < rows.length };
}

async function listedRows(db: Db, caller: ScimCaller, request: ListRequest): Promise<Rows<ScimGroupRow>> {
  const where = whereOf(caller);
  const { narrowing, residue } = narrow(request.filter);
  if (residue) {
    const withMembers = mentions(residue, "members");
    const scan = {
      matches: matcherOf(groupType, residue),
      read: (after: string | undefined, limit: number) =>
        listScimGroups(db, { where, narrowing, after, limit }),
      show: (rows: readonly ScimGroupRow[]) => shownGroups(db, caller, rows, withMembers),
    };
    return filteredRows(scan, request);
  }
  const { offset, count, cursor } = request;
  const total = await countScimGroups(db, where, narrowing);
  const start = cursor ? { after: cursor.after } : { offset };
  const rows = count === 0 ? [] : await listScimGroups(db, { where, narrowing, ...start, limit: count + 1 });
  return { rows: rows.slice(0, count), total, hasMore: rows.length > count };
}

/** What the database answers, and the rest, about which each group is asked: a name is compared without case. */
function narrow(filter: Filter | undefined): { narrowing: GroupNarrowing; residue: Filter | undefined } {
  const narrowing = {
    ...{ ids: [] as string[], externalIds: [] as string[], names: [] as string[], members: [] as string[] },
  };
  const rest: Filter[] = [];
  for (const one of conjuncts(filter)) {
    const equality = equalityIn(one);
    const is = (name: string): boolean => equality !== undefined && isPathOf(groupType, equality.path, name);
    const value = equality?.value ?? "";
    if (is("id")) narrowing.ids.push(value);
    else if (is("externalId")) narrowing.externalIds.push(value);
    else if (is("members")) narrowing.members.push(value);
    else rest.push(one);
    if (is("displayName")) narrowing.names.push(value);
  }
  const [only] = rest;
  const residue = rest.length > 1 ? { op: "and" as const, filters: rest } : only;
  return { narrowing, residue };
}
