/** Groups by API v1. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { assignGroup } from "../../core/application-access/application-access.ts";
import { createConnection } from "../../core/connections/connections.ts";
import { createGroup } from "../../core/groups/groups.ts";
import { groupRef, makeDirectory, userRef } from "../fixtures/directory.ts";
import { newApplication } from "./api-applications.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const reads = ["signet:groups:read"] as const;
const writes = ["signet:groups:write"] as const;
const name = (): string => `Group ${randomBytes(6).toString("hex")}`;

export async function newGroupId({ service, a }: ApiWorld): Promise<string> {
  const directory = await makeDirectory(service, a.organisation.id);
  return directory.group(name(), [userRef(a.user.id)]);
}

const newGroup = async (world: ApiWorld) => `/groups/${await newGroupId(world)}`;
const below = (end: string) => async (world: ApiWorld) => `${await newGroup(world)}${end}`;

async function groupOfConnection({ service, a }: ApiWorld): Promise<string> {
  const act = { orgId: a.organisation.id, actor: "test" };
  const content = { name: name(), enabled: true, deletionPolicy: "disable" as const };
  const { id: connectionId } = await createConnection(service, { ...act, content });
  const group = { displayName: name(), description: null, externalId: null };
  const { id } = await createGroup(service, { ...act, connectionId, source: "scim", content: group });
  return `/groups/${id}/hand-over`;
}

async function nested({ service, a }: ApiWorld): Promise<string> {
  const directory = await makeDirectory(service, a.organisation.id);
  const inner = await directory.group(name());
  return `/groups/${await directory.group(name(), [groupRef(inner)])}/members/groups/${inner}`;
}

async function notNested(world: ApiWorld): Promise<string> {
  return `${await newGroup(world)}/members/groups/${await newGroupId(world)}`;
}

async function openedApplication(world: ApiWorld): Promise<string> {
  const [applicationId, groupId] = [await newApplication(world), await newGroupId(world)];
  const { id: orgId } = world.a.organisation;
  assert.equal(await assignGroup(world.service, { orgId, actor: "test", applicationId, groupId }), true);
  return `/applications/${applicationId}/groups/${groupId}`;
}

export const apiGroupCases = apiV1Cases({
  "GET /groups": {
    ...{ scopes: reads, path: () => "/groups", status: 200 },
    wrongQueries: [...wrongLists, `search=${"x".repeat(101)}`],
  },
  "GET /groups/:id": { scopes: reads, path: newGroup, status: 200 },
  "POST /groups": {
    ...{ scopes: writes, path: () => "/groups", options: () => ({ body: { displayName: name() } }) },
    status: 201,
    wrong: [
      ...[...wrongBodies, {}, { displayName: " " }, { displayName: "x".repeat(257) }],
      ...[
        { displayName: name(), source: "scim" },
        { displayName: name(), memberCount: 1 },
      ],
    ],
  },
  "PATCH /groups/:id": {
    ...{ scopes: writes, path: newGroup, options: () => ({ body: { description: "Invoices" } }) },
    status: 200,
    wrong: [...wrongBodies, { displayName: null }, { description: 1 }, { source: "local" }],
  },
  "DELETE /groups/:id": { scopes: writes, path: newGroup, status: 204, wrong: [{}] },
  "GET /groups/:id/members": {
    ...{ scopes: reads, path: below("/members"), status: 200 },
    wrongQueries: [...wrongLists, "effective=1"],
  },
  "POST /groups/:id/members": {
    ...{ scopes: writes, path: below("/members"), status: 200 },
    options: ({ a }) => ({ body: { add: [{ type: "user", id: a.user.id }], remove: [] } }),
    wrong: [
      ...[...wrongBodies, { add: [{ type: "role", id: "x" }] }, { remove: [{ type: "user" }] }],
      { add: Array.from({ length: 1_001 }, () => ({ type: "user", id: "x" })) },
    ],
  },
  "PUT /groups/:id/members/users/:memberId": {
    ...{ scopes: writes, status: 204, wrong: [{}] },
    path: async (world) => `${await newGroup(world)}/members/users/${world.a.user.id}`,
  },
  "DELETE /groups/:id/members/users/:memberId": {
    ...{ scopes: writes, status: 204, wrong: [{}] },
    path: async (world) => `${await newGroup(world)}/members/users/${world.a.user.id}`,
  },
  "PUT /groups/:id/members/groups/:memberId": {
    ...{ scopes: writes, path: notNested, status: 204, wrong: [{}] },
  },
  "DELETE /groups/:id/members/groups/:memberId": {
    ...{ scopes: writes, path: nested, status: 204, wrong: [{}] },
  },
  "POST /groups/:id/hand-over": {
    ...{ scopes: writes, path: groupOfConnection, status: 200 },
    options: () => ({ body: { connectionId: null } }),
    wrong: [...wrongBodies, { connectionId: 1 }, { connectionId: "01998d70-5c1e-7d3a-8a4b-6f0e2d9c7b15" }],
    check: ({ source, connectionId }) => assert.deepEqual([source, connectionId], ["local", null]),
  },
  "GET /users/:id/groups": {
    ...{ scopes: ["signet:users:read"], status: 200 },
    path: async (world) => {
      await newGroupId(world);
      return `/users/${world.a.user.id}/groups`;
    },
    wrongQueries: [...wrongLists, "effective=yes"],
  },
  "GET /applications/:id/users": {
    ...{ scopes: ["signet:applications:read"], status: 200, wrongQueries: wrongLists },
    path: async (world) => `/applications/${await newApplication(world)}/users`,
  },
  "GET /applications/:id/groups": {
    ...{ scopes: ["signet:applications:read"], status: 200, wrongQueries: wrongLists },
    path: async (world) => `/applications/${await newApplication(world)}/groups`,
  },
  "PUT /applications/:id/groups/:groupId": {
    ...{ scopes: ["signet:applications:write"], status: 204, wrong: [{}] },
    path: async (world) => `/applications/${await newApplication(world)}/groups/${await newGroupId(world)}`,
  },
  "DELETE /applications/:id/groups/:groupId": {
    ...{ scopes: ["signet:applications:write"], path: openedApplication, status: 204, wrong: [{}] },
  },
});
