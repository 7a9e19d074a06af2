/** Users as SCIM resources of a connection. */
import type { Resource } from "@signet/protocol/scim/attribute";
import type { Filter } from "@signet/protocol/scim/filter-syntax";
import { matcherOf } from "@signet/protocol/scim/match";
import { patchResource } from "@signet/protocol/scim/patch";
import { readResource } from "@signet/protocol/scim/read-resource";
import { ENTERPRISE_SCHEMA, USER_SCHEMA, userType } from "@signet/protocol/scim/user-schema";
import { resourceOfAccount, resourceWithAccount } from "../../core/provisioning/account-of-resource.ts";
import { changeScimUser, createScimUser, deleteScimUser } from "../../core/provisioning/provision-users.ts";
import { type GroupOfUser, listGroupsOfUsers } from "../../core/provisioning/scim-members.store.ts";
import {
  countVisible,
  findVisible,
  listVisible,
  type Narrowing,
  type ProvisionedRow,
} from "../../core/provisioning/scim-users.store.ts";
import type { Db } from "../../db/open.ts";
import { wireTime } from "../../http/api/times.ts";
import { requireTag, tagOf } from "./etag.ts";
import { filteredRows, type Rows } from "./filtered-rows.ts";
import { conjuncts, equalityIn, isPathOf, type ListRequest, mentions } from "./list-request.ts";
import type { Page, ScimCaller, ScimDeps, ScimResources, Shown } from "./scim-call.ts";

const whereOf = ({ connection }: ScimCaller) => ({ orgId: connection.orgId, connectionId: connection.id });

export function scimUsers(deps: ScimDeps): ScimResources {
  const db = deps.database.query;
  const show = async (caller: ScimCaller, row: ProvisionedRow, on = db): Promise<Shown> => {
    const [shown] = await shownUsers(on, caller, [row]);
    if (!shown) throw new Error("one row is one user");
    return shown;
  };
  /** @throws ScimFault 412 */
  const check = async (caller: ScimCaller, row: ProvisionedRow, on: Db, ifMatch: string | undefined) => {
    if (ifMatch !== undefined) requireTag(ifMatch, (await show(caller, row, on)).meta.version);
  };
  return {
    type: userType,
    find: async (caller, id) => {
      const row = await findVisible(db, whereOf(caller), id);
      return row && show(caller, row);
    },
    list: (caller, request) => listUsers(db, caller, request),
    create: async (caller, body) =>
      show(caller, await createScimUser(deps, caller, readResource(userType, body))),
    replace: async (caller, id, body, { ifMatch }) => {
      const wanted = readResource(userType, body);
      const change = async (row: ProvisionedRow, tx: Db): Promise<Resource> => {
        await check(caller, row, tx, ifMatch);
        // A PUT of the whole user without `active`, as Okta sends it, does not enable anybody.
        return { ...wanted, active: wanted["active"] ?? row.disabledAt === null };
      };
      return show(caller, await changeScimUser(deps, caller, { id, change }));
    },
    patch: async (caller, id, body, { ifMatch }) => {
      const change = async (row: ProvisionedRow, tx: Db): Promise<Resource> => {
        await check(caller, row, tx, ifMatch);
        return patchResource(userType, contentOf(row), body);
      };
      return show(caller, await changeScimUser(deps, caller, { id, change }));
    },
    remove: (caller, id, { ifMatch }) =>
      deleteScimUser(deps, caller, { id, check: (row, tx) => check(caller, row, tx, ifMatch) }),
  };
}

/** In normal form: what a PATCH changes. */
function contentOf(row: ProvisionedRow): Resource {
  const account = { ...row, active: row.disabledAt === null };
  return row.resource === null
    ? resourceOfAccount(account)
    : resourceWithAccount(JSON.parse(row.resource) as Resource, account);
}

function shownUser({ root }: ScimCaller, row: ProvisionedRow, groups: readonly GroupOfUser[]): Shown {
  const content = contentOf(row);
  const schemas = [USER_SCHEMA, ...(ENTERPRISE_SCHEMA in content ? [ENTERPRISE_SCHEMA] : [])];
  const shown = {
    ...{ schemas, id: row.id, ...content },
    ...(groups.length > 0 && { groups: groups.map((one) => shownGroup(root, one)) }),
  };
  const location = `${root}/Users/${row.id}`;
  const times = { created: wireTime(row.createdAt), lastModified: wireTime(row.updatedAt) };
  return { ...shown, meta: { resourceType: "User", ...times, location, version: tagOf(shown) } };
}

const shownGroup = (root: string, { id, displayName, isDirect }: GroupOfUser) => ({
  value: id,
  $ref: `${root}/Groups/${id}`,
  display: displayName,
  type: isDirect ? "direct" : "indirect",
});

/** More groups than that end a page. */
const MAX_GROUPS_OF_PAGE = 50_000;

/** In the order of the rows, which are in that of their ids; at least the first. */
async function shownUsers(db: Db, caller: ScimCaller, rows: readonly ProvisionedRow[]): Promise<Shown[]> {
  const userIds = rows.map(({ id }) => id);
  const limit = MAX_GROUPS_OF_PAGE;
  const groups = await listGroupsOfUsers(db, whereOf(caller), { userIds, limit });
  const byUser = Map.groupBy(groups, ({ userId }) => userId);
  // Of the last user that there was room for, some may be missing.
  const cutAt = groups.length < limit ? undefined : groups.at(-1)?.userId;
  const whole = rows.filter(({ id }, at) => at === 0 || cutAt === undefined || id < cutAt);
  return whole.map((row) => shownUser(caller, row, byUser.get(row.id) ?? []));
}

async function listUsers(db: Db, caller: ScimCaller, request: ListRequest): Promise<Page> {
  const { rows, total, hasMore } = await listedRows(db, caller, request);
  const resources = await shownUsers(db, caller, rows);
  return { resources, total, hasMore: hasMore || resources.length < rows.length };
}

async function listedRows(db: Db, caller: ScimCaller, request: ListRequest): Promise<Rows<ProvisionedRow>> {
  const where = whereOf(caller);
  const { filter, offset, count, cursor } = request;
  const narrowing = narrowingOf(filter);
  if (filter) {
    // The ETag, too, is made of the groups.
    const withGroups = mentions(filter, "groups") || mentions(filter, "meta");
    const scan = {
      matches: matcherOf(userType, filter),
      read: (after: string | undefined, limit: number) => listVisible(db, { where, narrowing, after, limit }),
      show: async (rows: readonly ProvisionedRow[]) =>
        withGroups ? allShown(db, caller, rows) : rows.map((row) => shownUser(caller, row, [])),
    };
    return filteredRows(scan, request);
  }
  const total = await countVisible(db, where);
  const start = cursor ? { after: cursor.after } : { offset };
  const rows = count === 0 ? [] : await listVisible(db, { where, narrowing, ...start, limit: count + 1 });
  return { rows: rows.slice(0, count), total, hasMore: rows.length > count };
}

async function allShown(db: Db, caller: ScimCaller, rows: readonly ProvisionedRow[]): Promise<Shown[]> {
  const shown: Shown[] = [];
  while (shown.length < rows.length) shown.push(...(await shownUsers(db, caller, rows.slice(shown.length))));
  return shown;
}

/** ASCII alone: databases differ in what else has a small form. */
const PLAIN = /^[\x21-\x7e]+$/;

function narrowingOf(filter: Filter | undefined): Narrowing {
  const narrowing: { -readonly [Name in keyof Narrowing]: Narrowing[Name] } = {};
  for (const { path, value } of conjuncts(filter).flatMap((one) => equalityIn(one) ?? [])) {
    if (isPathOf(userType, path, "id")) narrowing.id = value;
    if (isPathOf(userType, path, "userName")) narrowing.userName = value;
    if (isPathOf(userType, path, "externalId")) narrowing.externalId = value;
    if (isPathOf(userType, path, "emails") && PLAIN.test(value) && !/["\\]/.test(value))
      narrowing.email = value;
  }
  return narrowing;
}
