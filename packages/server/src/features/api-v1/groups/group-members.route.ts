/** /api/v1/organisations/{org}/groups/{id}/members: who is in a group. */
import Type, { type Static } from "typebox";
import {
  findUnknownMembers,
  type GroupMember,
  type MemberType,
  memberTypes,
} from "../../../core/groups/group-members.store.ts";
import { changeMembers, MAX_CHANGES } from "../../../core/groups/group-members.ts";
import { findGroup } from "../../../core/groups/groups.store.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { noParameters, strictObject } from "../../../http/api/schemas.ts";
import { type ApiCaller, actOf, apiAuthenticator } from "../access.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { type ApiResource, actRoute, listRoute } from "../frame/resource-routes.ts";
import { listMemberPage, memberFields } from "./group-lists.store.ts";
import { type ShownGroup, toGroupAnswer } from "./group-record.ts";

const reference = strictObject({
  type: Type.Enum([...memberTypes]),
  id: Type.String({ format: "uuid" }),
});

const changes = strictObject({
  add: Type.Optional(Type.Array(reference, { maxItems: MAX_CHANGES })),
  remove: Type.Optional(Type.Array(reference, { maxItems: MAX_CHANGES })),
});

const memberSchema = Type.Object(
  {
    type: Type.Enum([...memberTypes]),
    id: Type.String({ format: "uuid" }),
    displayName: Type.String({ description: "Of a user the names, else the email address" }),
  },
  { title: "ApiGroupMember" },
);

export const effectiveQuery = {
  effective: Type.Optional(
    Type.Enum(["true", "false", ""], { description: "true: at every depth, through other groups too" }),
  ),
};

export function groupMembersRoutes(groups: ApiResource<ShownGroup>): void {
  const { api, deps } = groups;
  const members: ApiResource<GroupMember> = {
    ...{ api, deps, tag: groups.tag, one: "member", many: "members" },
    ...{ reads: groups.reads, writes: groups.writes, schema: memberSchema },
    record: ({ type, id, displayName }) => ({ type, id, displayName }),
  };
  listRoute(
    members,
    "/api/v1/organisations/:org/groups/:id/members",
    {
      operationId: "apiListGroupMembers",
      summary: "List the members of a group: groups and users",
      fields: memberFields,
      query: effectiveQuery,
    },
    async ({ orgId, params, list, query }) => {
      const group = { orgId, id: idOf(params) };
      if (!(await findGroup(deps.database.query, group))) throw notFound();
      const effective = query["effective"] === "true";
      const isPlain = query["sort"] === undefined && list.filter === undefined;
      return listMemberPage(deps.database.query, group, list, { effective, isPlain });
    },
  );
  actRoute(
    groups,
    "/api/v1/organisations/:org/groups/:id/members",
    {
      operationId: "apiChangeGroupMembers",
      summary: `Add and remove members, ${MAX_CHANGES} at most, all or none of them`,
      body: changes,
      example: { add: [{ type: "user", id: "01998d70-5c1e-4d3a-8a4b-6f0e2d9c7b15" }] },
      errors: [409],
    },
    async (inside, { caller, id, orgId, check, body }) => {
      const change = lowerCase(body);
      const unknown = await findUnknownMembers(inside.database.query, orgId, change.remove);
      const found = await changeMembers(inside, { ...actOf(caller), id, check, ...change });
      if (found && unknown.length > 0)
        throw invalid(
          unknown.map((one) => ({
            path: `/remove/${change.remove.indexOf(one)}/id`,
            message: `names no ${one.type} of the organisation`,
          })),
        );
      return found;
    },
  );
  oneByOne(api, deps);
}

const lowerCase = ({ add = [], remove = [] }: Static<typeof changes>) => {
  const lower = (one: Static<typeof reference>) => ({ type: one.type, id: one.id.toLowerCase() });
  return { add: add.map(lower), remove: remove.map(lower) };
};

const shared = {
  tag: "API v1: groups",
  credential: "access-token",
  query: noParameters,
  description: "Scope: `signet:groups:write`.",
  errors: [409],
} as const;

function oneByOne(api: ApiScope, deps: ApiDeps): void {
  const authenticator = apiAuthenticator(deps, "signet:groups:write");
  const added = { 204: { description: "A member, whether it was one before or not" } };
  const removed = { 204: { description: "No member, whether it was one before or not" } };
  apiRoute(api, {
    ...{ ...shared, authenticator, method: "PUT", answers: added },
    path: "/api/v1/organisations/:org/groups/:id/members/users/:memberId",
    ...{ operationId: "apiAddGroupUser", summary: "Add a user to a group" },
    handler: ({ caller, params }) => set(deps, caller, { params, type: "user", isMember: true }),
  });
  apiRoute(api, {
    ...{ ...shared, authenticator, method: "DELETE", answers: removed },
    path: "/api/v1/organisations/:org/groups/:id/members/users/:memberId",
    ...{ operationId: "apiRemoveGroupUser", summary: "Remove a user from a group" },
    handler: ({ caller, params }) => set(deps, caller, { params, type: "user", isMember: false }),
  });
  apiRoute(api, {
    ...{ ...shared, authenticator, method: "PUT", answers: added },
    path: "/api/v1/organisations/:org/groups/:id/members/groups/:memberId",
    ...{ operationId: "apiAddNestedGroup", summary: "Put a group into a group" },
    handler: ({ caller, params }) => set(deps, caller, { params, type: "group", isMember: true }),
  });
  apiRoute(api, {
    ...{ ...shared, authenticator, method: "DELETE", answers: removed },
    path: "/api/v1/organisations/:org/groups/:id/members/groups/:memberId",
    ...{ operationId: "apiRemoveNestedGroup", summary: "Take a group out of a group" },
    handler: ({ caller, params }) => set(deps, caller, { params, type: "group", isMember: false }),
  });
}

interface OneMember {
  readonly params: Readonly<Record<string, string>>;
  readonly type: MemberType;
  readonly isMember: boolean;
}

const set = (deps: ApiDeps, caller: ApiCaller, { params, type, isMember }: OneMember) =>
  inTransaction(deps, undefined, async (inside) => {
    const act = actOf(caller);
    const one = { type, id: idOf(params, "memberId") };
    const [unknown] = await findUnknownMembers(inside.database.query, act.orgId, [one]);
    if (unknown) throw notFound();
    const change = isMember ? { add: [one], remove: [] } : { add: [], remove: [one] };
    if (!(await changeMembers(inside, { ...act, id: idOf(params), ...change }))) throw notFound();
    return { status: 204 };
  }).catch(toGroupAnswer);
