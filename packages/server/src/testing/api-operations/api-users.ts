/** Users by API v1. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { insertIdentity } from "../../core/connections/sign-in/linked-identities.store.ts";
import { signIn } from "../../core/sessions/sessions.ts";
import { inviteUser } from "../../core/users/invitations/invitations.ts";
import { findUser } from "../../core/users/users.store.ts";
import { createUser } from "../../core/users/users.ts";
import { newSignInConnection } from "../fixtures/sign-in-connection.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const reads = ["signet:users:read"] as const;
const writes = ["signet:users:write"] as const;
const email = () => `api-${randomBytes(6).toString("hex")}@acme.example`;
const passwordHash = "$2b$10$vI8aWBnW3fID.ZQ4/zo1G.q1lRps.9cGLcZEiGDMVr5yUP1KUOYTa";
const person = { firstname: "Uma", surname: "Berg", actor: "test" } as const;

async function newUser({ service, a }: ApiWorld): Promise<string> {
  const account = { email: email(), password: "plum tractor ninety", emailVerified: true };
  const input = { organisation: a.organisation, role: "Standard" as const, ...account, ...person };
  return `/users/${await createUser(service, input)}`;
}

async function invitedUser({ service, a, baseUrl }: ApiWorld): Promise<string> {
  const invitation = { organisation: a.organisation, email: email(), role: "Standard" as const, ...person };
  return `/users/${await inviteUser({ ...service, baseUrl }, invitation)}`;
}

async function newSession(world: ApiWorld): Promise<string> {
  const path = await newUser(world);
  const { organisation } = world.a;
  const user = await findUser(world.service.database.query, organisation.id, path.slice("/users/".length));
  assert.ok(user);
  const { session } = await signIn(world.service, {
    ...{ organisation, user, before: undefined },
    ...{ amr: ["pwd"], acr: "urn:signet:acr:pwd", address: "127.0.0.1", userAgent: "test" },
  });
  return `${path}/sessions/${session.id}`;
}

async function newIdentity(world: ApiWorld): Promise<string> {
  const path = await newUser(world);
  const { id: orgId } = world.a.organisation;
  const connectionId = await newSignInConnection(world.service, orgId);
  const now = world.service.clock();
  await insertIdentity(world.service.database.query, {
    ...{ orgId, connectionId, subject: "there", userId: path.slice("/users/".length) },
    ...{ createdAt: now, lastSignInAt: now },
  });
  return `${path}/identities/${connectionId}`;
}

const act = (name: string, of: (world: ApiWorld) => Promise<string> = newUser) => ({
  scopes: writes,
  path: async (world: ApiWorld) => `${await of(world)}/${name}`,
  status: 200,
  wrong: [{ unknown: 1 }],
});

export const apiUsersCases = apiV1Cases({
  "GET /users": {
    scopes: reads,
    path: () => "/users",
    status: 200,
    wrongQueries: [...wrongLists, `search=${"x".repeat(101)}`],
  },
  "GET /users/:id": { scopes: reads, path: newUser, status: 200 },
  "POST /users": {
    scopes: writes,
    path: () => "/users",
    options: () => ({ body: { email: email(), nickname: "Uma" } }),
    status: 201,
    wrong: [
      ...[...wrongBodies, {}, { email: "x" }, { email: email(), password: "x" }],
      { email: email(), nickname: 1 },
    ],
  },
  "PATCH /users/:id": {
    scopes: writes,
    path: newUser,
    options: () => ({ body: { nickname: "Uma" } }),
    status: 200,
    wrong: [...wrongBodies, { nickname: 1 }, { email: null }, { state: "disabled" }],
  },
  "DELETE /users/:id": { scopes: writes, path: newUser, status: 204, wrong: [{}] },
  "POST /users/:id/disable": act("disable"),
  "POST /users/:id/enable": act("enable"),
  "POST /users/:id/invite": act("invite", invitedUser),
  "POST /users/:id/reset-factors": act("reset-factors"),
  "POST /users/:id/sign-out": act("sign-out"),
  "POST /users/:id/reset-password": act("reset-password"),
  "POST /users/:id/change-email": {
    ...act("change-email"),
    options: () => ({ body: { email: email() } }),
    wrong: [...wrongBodies, {}, { email: "x" }],
  },
  "POST /users/import": {
    scopes: writes,
    path: () => "/users/import",
    options: () => ({ body: { users: [{ email: email(), passwordHash }] } }),
    status: 200,
    wrong: [
      ...[...wrongBodies, {}, { users: [] }, { users: [{}] }, { users: [{ email: "x" }] }],
      { users: [{ email: email(), passwordHash: "$2b$31$x" }] },
      { users: [{ email: "twice@acme.example" }, { email: "Twice@acme.example" }] },
      { users: Array.from({ length: 1_001 }, () => ({ email: email() })) },
    ],
  },
  "GET /users/:id/sessions": {
    scopes: reads,
    path: async (world) => `${await newUser(world)}/sessions`,
    status: 200,
    wrongQueries: wrongLists,
  },
  "DELETE /users/:id/sessions/:sessionId": { scopes: writes, path: newSession, status: 204, wrong: [{}] },
  "DELETE /users/:id/identities/:connectionId": {
    ...{ scopes: writes, path: newIdentity, status: 204, wrong: [{}] },
  },
});
