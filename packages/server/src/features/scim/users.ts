/** Users as SCIM resources of a connection. */
import { setImmediate } from "node:timers/promises";
import type { Resource } from "@signet/protocol/scim/attribute";
import { patchResource } from "@signet/protocol/scim/patch";
import { readResource } from "@signet/protocol/scim/read-resource";
import { ENTERPRISE_SCHEMA, USER_SCHEMA, userType } from "@signet/protocol/scim/user-schema";
import { resourceOfAccount, resourceWithAccount } from "../../core/provisioning/account-of-resource.ts";
import { changeScimUser, createScimUser, deleteScimUser } from "../../core/provisioning/provision-users.ts";
import {
  countVisible,
  findVisible,
  listVisible,
  type Narrowing,
  type ProvisionedRow,
} from "../../core/provisioning/scim-users.store.ts";
import { wireTime } from "../../http/api/times.ts";
import { requireTag, tagOf } from "./etag.ts";
import { equalities, isPathOf, type ListRequest } from "./list-request.ts";
import type { Page, ScimCaller, ScimDeps, ScimResources, Shown } from "./scim-call.ts";

export function scimUsers(deps: ScimDeps): ScimResources {
  const db = deps.database.query;
  const whereOf = ({ connection }: ScimCaller) => ({ orgId: connection.orgId, connectionId: connection.id });
  return {
    type: userType,
    find: async (caller, id) => {
      const row = await findVisible(db, whereOf(caller), id);
      return row && shownUser(caller, row);
    },
    list: (caller, request) => listUsers(deps, caller, request),
    create: async (caller, body) =>
      shownUser(caller, await createScimUser(deps, caller, readResource(userType, body))),
    replace: async (caller, id, body, { ifMatch }) => {
      const wanted = readResource(userType, body);
      const change = (row: ProvisionedRow): Resource => {
        requireTag(ifMatch, shownUser(caller, row).meta.version);
        // A PUT of the whole user without `active`, as Okta sends it, does not enable anybody.
        return { ...wanted, active: wanted["active"] ?? row.disabledAt === null };
      };
      return shownUser(caller, await changeScimUser(deps, caller, { id, change }));
    },
    patch: async (caller, id, body, { ifMatch }) => {
      const change = (row: ProvisionedRow): Resource => {
        requireTag(ifMatch, shownUser(caller, row).meta.version);
        return patchResource(userType, contentOf(row), body);
      };
      return shownUser(caller, await changeScimUser(deps, caller, { id, change }));
    },
    remove: (caller, id, { ifMatch }) =>
      deleteScimUser(deps, caller, {
        id,
        check: (row) => requireTag(ifMatch, shownUser(caller, row).meta.version),
      }),
  };
}

/** In normal form: what a PATCH changes. */
function contentOf(row: ProvisionedRow): Resource {
  const account = { ...row, active: row.disabledAt === null };
  return row.resource === null
    ? resourceOfAccount(account)
    : resourceWithAccount(JSON.parse(row.resource) as Resource, account);
}

function shownUser({ root }: Pick<ScimCaller, "root">, row: ProvisionedRow): Shown {
  const content = contentOf(row);
  const schemas = [USER_SCHEMA, ...(ENTERPRISE_SCHEMA in content ? [ENTERPRISE_SCHEMA] : [])];
  const shown = { schemas, id: row.id, ...content };
  const location = `${root}/Users/${row.id}`;
  const times = { created: wireTime(row.createdAt), lastModified: wireTime(row.updatedAt) };
  return { ...shown, meta: { resourceType: "User", ...times, location, version: tagOf(shown) } };
}

/** Others are served meanwhile: a filter may compare a hundred things with each value of each user. */
function pauses(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < LONGEST_MS) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
}

const LONGEST_MS = 10;

/** Rows that are looked at together when a filter has to be asked. */
const BATCH = 500;

async function listUsers(deps: ScimDeps, caller: ScimCaller, request: ListRequest): Promise<Page> {
  const db = deps.database.query;
  const where = { orgId: caller.connection.orgId, connectionId: caller.connection.id };
  const narrowing = narrowingOf(request);
  if (request.matches) return filteredUsers(deps, caller, request, narrowing);
  const total = await countVisible(db, where, narrowing);
  const { offset, count, cursor } = request;
  const start = cursor ? { after: cursor.after } : { offset };
  const rows = count === 0 ? [] : await listVisible(db, { where, narrowing, ...start, limit: count + 1 });
  const shown = rows.slice(0, count).map((row) => shownUser(caller, row));
  return { resources: shown, total, hasMore: rows.length > count };
}

/** Everything that may match is looked at: the total is part of the answer. */
async function filteredUsers(
  deps: ScimDeps,
  caller: ScimCaller,
  { matches, offset, count, cursor }: ListRequest,
  narrowing: Narrowing,
): Promise<Page> {
  const where = { orgId: caller.connection.orgId, connectionId: caller.connection.id };
  const page: Shown[] = [];
  let total = 0;
  let before = 0;
  const pause = pauses();
  for (let after: string | undefined; ; ) {
    const rows = await listVisible(deps.database.query, { where, narrowing, after, limit: BATCH });
    for (const row of rows) {
      await pause();
      const shown = shownUser(caller, row);
      if (matches && !matches(shown)) continue;
      total += 1;
      const isBefore = cursor ? cursor.after !== undefined && row.id <= cursor.after : total <= offset;
      if (isBefore) before += 1;
      else if (page.length < count) page.push(shown);
    }
    after = rows.at(-1)?.id;
    if (rows.length < BATCH) return { resources: page, total, hasMore: total > before + page.length };
  }
}

/** ASCII alone: databases differ in what else has a small form. */
const PLAIN = /^[\x21-\x7e]+$/;

function narrowingOf({ filter }: ListRequest): Narrowing {
  const narrowing: { -readonly [Name in keyof Narrowing]: Narrowing[Name] } = {};
  for (const { path, value } of equalities(filter)) {
    if (isPathOf(userType, path, "id")) narrowing.id = value;
    if (isPathOf(userType, path, "userName")) narrowing.userName = value;
    if (isPathOf(userType, path, "externalId")) narrowing.externalId = value;
    if (isPathOf(userType, path, "emails") && PLAIN.test(value) && !/["\\]/.test(value))
      narrowing.email = value;
  }
  return narrowing;
}
