/** A body that comes after its head takes a place then: by the direct way and by the framework's. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { forEachDatabase } from "../../testing/databases.ts";
import { fewPlaces } from "../../testing/few-places.ts";
import { credentials } from "../../testing/fixtures/client.ts";
import { makeClient, makeOrganisation, startTestService } from "../../testing/test-service.ts";

const one = fewPlaces(1, { waiting: 8, waitMs: 5_000 });
const none = fewPlaces(0, { waiting: 0, waitMs: 5_000 });

async function postLate(url: string, form: Record<string, string>) {
  const body = new URLSearchParams(form).toString();
  const asked = request(url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", "content-length": body.length },
  });
  asked.flushHeaders();
  await pause(50);
  asked.end(body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const said = JSON.parse((await answer.toArray()).join("")) as Record<string, unknown>;
  return { status: answer.statusCode, retryAfter: answer.headers["retry-after"], said };
}

forEachDatabase(({ fresh }) => {
  for (const isFrameworkAlone of [false, true]) {
    test(`a late body is answered when there is a place, and 503 when there is none (framework alone: ${isFrameworkAlone})`, async () => {
      for (const admission of [one, none]) {
        const running = await startTestService({ databaseUrl: await fresh(), isFrameworkAlone, admission });
        try {
          const { organisation, issuer } = await makeOrganisation(running.service);
          const grants = { grantTypes: ["client_credentials"], allowedScopes: ["jobs:run"] } as const;
          const client = await makeClient(running.service, organisation, grants);
          const form = { grant_type: "client_credentials", ...credentials(client) };
          for (let count = 0; count < 3; count++) {
            const { status, retryAfter, said } = await postLate(`${issuer}/token`, form);
            assert.equal(status, admission === one ? 200 : 503);
            if (admission === one) assert.equal(typeof said.access_token, "string");
            else assert.deepEqual([said.error, Number(retryAfter) > 0], ["temporarily_unavailable", true]);
          }
        } finally {
          await running.close();
        }
      }
    });
  }
});
