/** GET users: the organisation's members, newest first. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import {
  listMembers,
  type MemberCursor,
  type MemberState,
  memberStates,
  searchWords,
} from "../../../core/users/members/members.store.ts";
import type { Role } from "../../../core/users/user.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { ROWS_PER_PAGE, readSearch, splitPage } from "../../../page-kit/list-page.ts";
import {
  consolePath,
  consoleRoute,
  queryString,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { type ListView, listPage, roles } from "./list.page.ts";
import type { UsersDeps } from "./user-path.ts";

export function userListRoute(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/users", { get: showList });
}

async function showList(deps: UsersDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const { values } = parseQuery(visit.request);
  const filters = readFilters(values);
  const listUri = consolePath(organisation, "/users");
  const signedIn = await requireAdministrator(deps, visit, `${listUri}${queryString({ ...filters })}`);
  const frame = await consoleFrame(deps, visit, signedIn, "users");
  const done = values.get("done");
  const page = listPage({
    ...frame,
    ...(await findListed(deps, visit, filters, readPlace(values.get("after")))),
    you: signedIn.user.id,
    done: done === "deleted" || done === "removed" ? done : undefined,
  });
  await show(visit, frame, page);
}

type Filters = { search: string; role: Role | undefined; state: MemberState | undefined };

const readFilters = (values: ReadonlyMap<string, string>): Filters => ({
  search: readSearch(values),
  role: roles.find((one) => one === values.get("role")),
  state: memberStates.find((one) => one === values.get("state")),
});

/** Anything else begins at the beginning. */
function readPlace(text = ""): MemberCursor | undefined {
  const [, createdAt, id = ""] = /^(\d{1,15})\.(.+)$/.exec(text) ?? [];
  return createdAt !== undefined && isUuid(id)
    ? { createdAt: Number(createdAt), id: id.toLowerCase() }
    : undefined;
}

async function findListed(
  { database }: UsersDeps,
  { organisation }: Visit,
  { search, role, state }: Filters,
  after: MemberCursor | undefined,
): Promise<Pick<ListView, "search" | "members" | "newestUri" | "olderUri">> {
  const filter = {
    words: searchWords(search),
    ...(role === undefined ? {} : { role }),
    ...(state === undefined ? {} : { state }),
  };
  const rows = await listMembers(database.query, organisation.id, {
    filter,
    after,
    limit: ROWS_PER_PAGE + 1,
  });
  const { shown, last } = splitPage(rows);
  const pageUri = (place?: MemberCursor) =>
    consolePath(
      organisation,
      `/users${queryString({ search, role, state, after: place && `${place.createdAt}.${place.id}` })}`,
    );
  return {
    search: { search, role, state },
    members: shown,
    newestUri: after && pageUri(),
    olderUri: last && pageUri(last),
  };
}
