/** Invitations by API v1. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { findInvitationOfUser } from "../../core/users/invitations/invitation-records.store.ts";
import { inviteUser } from "../../core/users/invitations/invitations.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const email = () => `invited-${randomBytes(6).toString("hex")}@acme.example`;

async function newInvitation({ service, a, baseUrl }: ApiWorld): Promise<string> {
  const { organisation } = a;
  const person = { organisation, email: email(), firstname: "Uma", surname: "Berg", actor: "test" };
  const userId = await inviteUser({ ...service, baseUrl }, { ...person, role: "Standard" });
  const row = await findInvitationOfUser(service.database.query, { orgId: organisation.id, userId });
  assert.ok(row);
  return `/invitations/${row.id}`;
}

const reads = ["signet:users:read"] as const;
const writes = ["signet:users:write"] as const;

export const apiInvitationCases = apiV1Cases({
  "GET /invitations": { scopes: reads, path: () => "/invitations", status: 200, wrongQueries: wrongLists },
  "GET /invitations/:id": { scopes: reads, path: newInvitation, status: 200 },
  "POST /invitations": {
    ...{ scopes: writes, path: () => "/invitations", status: 201 },
    options: () => ({ body: { email: email(), firstname: "Uma" } }),
    wrong: [
      ...[...wrongBodies, {}, { email: "x" }, { email: email(), state: "accepted" }],
      ...[59, 2_592_001, 1.5].map((expiresInSeconds) => ({ email: email(), expiresInSeconds })),
    ],
  },
  "POST /invitations/:id/resend": {
    ...{ scopes: writes, status: 200, wrong: [{ unknown: 1 }] },
    path: async (world) => `${await newInvitation(world)}/resend`,
  },
  "DELETE /invitations/:id": { scopes: writes, path: newInvitation, status: 204, wrong: [{}] },
  "POST /invitations/batch": {
    ...{ scopes: writes, path: () => "/invitations/batch", status: 200 },
    options: () => ({ body: { items: [{ email: email() }] } }),
    wrong: [...wrongBodies, {}, { items: [] }, { items: [1] }, { items: [{ email: email() }], more: 1 }],
  },
});
