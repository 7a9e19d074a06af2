/** Roles, who has them, and why, by API v1. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { makeDirectory } from "../fixtures/directory.ts";
import { newApplication } from "./api-applications.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const reads = ["signet:roles:read"] as const;
const writes = ["signet:roles:write"] as const;
const UNKNOWN = "01998d70-5c1e-7d3a-8a4b-6f0e2d9c7b15";
const key = (): string => `role-${randomBytes(6).toString("hex")}`;

async function newRole(world: ApiWorld): Promise<string> {
  const directory = await makeDirectory(world.service, world.a.organisation.id);
  return directory.role(await newApplication(world), key(), ["invoice:read"]);
}

const rolePath = async (world: ApiWorld) => `/roles/${await newRole(world)}`;

async function assigned(world: ApiWorld): Promise<string> {
  const directory = await makeDirectory(world.service, world.a.organisation.id);
  const { id } = await directory.assign(await newRole(world), "user", world.a.user.id);
  return `/assignments/${id}`;
}

export const apiRoleCases = apiV1Cases({
  "GET /roles": { scopes: reads, path: () => "/roles", status: 200, wrongQueries: wrongLists },
  "GET /roles/:id": { scopes: reads, path: rolePath, status: 200 },
  "POST /roles": {
    ...{ scopes: writes, path: () => "/roles", status: 201 },
    options: async (world) => ({
      body: { applicationId: await newApplication(world), key: key(), permissions: ["invoice:read"] },
    }),
    wrong: [
      ...[...wrongBodies, {}, { key: "Upper" }, { key: key(), permissions: ["all"] }],
      ...[
        { key: key(), applicationId: UNKNOWN },
        { key: key(), builtIn: true },
        { key: key(), name: " " },
      ],
    ],
  },
  "PATCH /roles/:id": {
    ...{ scopes: writes, path: rolePath, status: 200 },
    options: () => ({ body: { permissions: ["invoice:write"] } }),
    wrong: [
      ...wrongBodies,
      { key: "other" },
      { applicationId: UNKNOWN },
      { name: null },
      { permissions: "x" },
    ],
  },
  "DELETE /roles/:id": { scopes: writes, path: rolePath, status: 204, wrong: [{}] },
  "GET /assignments": { scopes: reads, path: () => "/assignments", status: 200, wrongQueries: wrongLists },
  "GET /assignments/:id": { scopes: reads, path: assigned, status: 200 },
  "POST /assignments": {
    ...{ scopes: writes, path: () => "/assignments", status: 201 },
    options: async (world) => ({
      body: { roleId: await newRole(world), subjectType: "user", subjectId: world.a.user.id },
    }),
    wrong: [
      ...[...wrongBodies, {}, { roleId: UNKNOWN, subjectType: "user", subjectId: UNKNOWN }],
      { roleId: UNKNOWN, subjectType: "role", subjectId: UNKNOWN },
      { applicationId: UNKNOWN, roleKey: "x", subjectType: "user", subjectId: UNKNOWN },
    ],
  },
  "DELETE /assignments/:id": { scopes: writes, path: assigned, status: 204, wrong: [{}] },
  "GET /access": {
    ...{ scopes: reads, status: 200 },
    path: () => "/access",
    query: ({ a }) => `subjectType=user&subjectId=${a.user.id}&applicationId=${a.web.application.id}`,
    wrongQueries: ["", "subjectType=user", `subjectType=user&subjectId=${UNKNOWN}`, "subjectType=role"],
    check: (body) => assert.equal(body["allowed"], true),
  },
});
