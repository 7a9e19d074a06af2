/** GET users: the organisation's members, newest first; searched, filtered and paged by the database. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import {
  listMembers,
  type MemberPlace,
  type MemberState,
  memberStates,
} from "../../../core/users/members/members.store.ts";
import { searchWords } from "../../../core/users/members/search-key.ts";
import type { Role } from "../../../core/users/user.ts";
import { queryOf } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  administratorHere,
  consolePath,
  consoleRoute,
  queryText,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { type ListView, listPage, roles } from "./list.page.ts";
import { type UsersDeps, userPath } from "./user-visit.ts";

const ON_A_PAGE = 25;

export function userListRoute(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, "/users", {
    get: async (visit) => {
      const { organisation } = visit;
      const { values } = queryOf(visit.request);
      const search = readSearch(values);
      const path = consolePath(organisation, `/users${queryText({ ...search })}`);
      const signedIn = await administratorHere(deps, visit, path);
      if (!signedIn) return;
      const frame = await consoleFrame(deps, visit, signedIn, "users");
      const done = values.get("done");
      const page = listPage({
        ...frame,
        ...(await listed(deps, visit, search, readPlace(values.get("after")))),
        listUri: consolePath(organisation, "/users"),
        newUri: consolePath(organisation, "/users/new"),
        uriOf: (id) => userPath(organisation, id),
        you: signedIn.user.id,
        done: done === "deleted" || done === "removed" ? done : undefined,
      });
      await show(visit, frame, page);
    },
  });
}

type Search = { search: string; role: Role | undefined; state: MemberState | undefined };

const readSearch = (values: ReadonlyMap<string, string>): Search => ({
  search: (values.get("search") ?? "").trim().slice(0, 100),
  role: roles.find((one) => one === values.get("role")),
  state: memberStates.find((one) => one === values.get("state")),
});

/** Anything else is the beginning: somebody has played with the address. */
function readPlace(text = ""): MemberPlace | undefined {
  const [, createdAt, id = ""] = /^(\d{1,15})\.(.+)$/.exec(text) ?? [];
  return createdAt !== undefined && isUuid(id)
    ? { createdAt: Number(createdAt), id: id.toLowerCase() }
    : undefined;
}

async function listed(
  { database }: UsersDeps,
  { organisation }: Visit,
  search: Search,
  after: MemberPlace | undefined,
): Promise<Pick<ListView, "search" | "members" | "newestUri" | "olderUri">> {
  const { role, state } = search;
  const filter = {
    words: searchWords(search.search),
    ...(role === undefined ? {} : { role }),
    ...(state === undefined ? {} : { state }),
  };
  const rows = await listMembers(database.query, organisation.id, { filter, after, limit: ON_A_PAGE + 1 });
  const members = rows.slice(0, ON_A_PAGE);
  const last = rows.length > ON_A_PAGE ? members.at(-1) : undefined;
  const at = (place?: MemberPlace) =>
    consolePath(
      organisation,
      `/users${queryText({ ...search, after: place && `${place.createdAt}.${place.id}` })}`,
    );
  return { search, members, newestUri: after && at(), olderUri: last && at(last) };
}
