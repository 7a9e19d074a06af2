/** Event streams by API v1. */
import { POLL } from "../../core/event-streams/event-stream.ts";
import { createStream } from "../../core/event-streams/event-streams.ts";
import { makeClient } from "../test-service.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

async function path({ service, a }: ApiWorld): Promise<string> {
  const grantTypes = ["client_credentials"] as const;
  const allowedScopes = ["ssf.manage"];
  const { application } = await makeClient(service, a.organisation, { grantTypes, allowedScopes });
  const settings = { method: POLL, endpointUrl: null, eventsRequested: [], description: "theirs" };
  const act = { orgId: a.organisation.id, actor: "test", client: application };
  return `/event-streams/${(await createStream(service, { ...act, settings })).id}`;
}

const reads = ["signet:organisation:read"] as const;
const writes = ["signet:organisation:write"] as const;

export const apiEventStreamCases = apiV1Cases({
  "GET /event-streams": {
    ...{ scopes: reads, path: () => "/event-streams", status: 200, wrongQueries: wrongLists },
  },
  "GET /event-streams/:id": { scopes: reads, path, status: 200 },
  "PATCH /event-streams/:id": {
    ...{ scopes: writes, path, options: () => ({ body: { status: "paused" } }), status: 200 },
    wrong: [
      ...[...wrongBodies, { status: null }, { status: "on" }, { statusReason: "" }, { statusReason: 1 }],
      ...[{ statusReason: "x".repeat(501) }, { endpointUrl: "https://receiver.example" }],
      ...[{ eventsRequested: [] }, { clientId: "x" }],
    ],
  },
  "DELETE /event-streams/:id": { scopes: writes, path, status: 204, wrong: [{}] },
  "POST /event-streams/:id/verify": {
    ...{ scopes: writes, path: async (world) => `${await path(world)}/verify`, status: 200 },
    wrong: [{ state: "x" }],
  },
});
