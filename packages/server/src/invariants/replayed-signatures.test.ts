/** What a recorded plain signature can do again: it is tried on every route with which a system account changes something. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { hmacSignature } from "@signet/protocol/hmac-signature";
import { findApplication } from "../core/applications/applications.store.ts";
import { createClientSecret } from "../core/applications/client-secrets.ts";
import { listAuditEvents } from "../core/audit/audit.store.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { fakeClock } from "../testing/fakes/fake-clock.ts";
import { makePool, newAgentKey, presentedKey } from "../testing/fixtures/agent.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../testing/fixtures/system-account.ts";
import { listRoutes } from "../testing/list-routes.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

const BASE = "/legacy/api/oauth/";
const routes = await listRoutes();
const DEVICES = "/devices/manage/";
const changing = routes.filter(
  ({ method, path }) =>
    [BASE, DEVICES, "/oauth/:org/sovereign/admin/"].some((base) => path.startsWith(base)) &&
    !["GET", "HEAD", "OPTIONS"].includes(method),
);

describe("replayed signatures", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let running: TestService;
    let org: TestOrganisation;
    let account: TestAccount;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), clock });
      org = await makeOrganisation(running.service);
      account = await makeSystemAccount(running.service, org, { administrator: true });
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const call = (path: string, method: string, body?: unknown, strict = false) =>
      callApi(`${running.baseUrl}${path}`, account, {
        method,
        ...(body === undefined ? {} : { body }),
        ...(strict ? { strictAt: clock() } : {}),
      });
    const clientPath = (rest: string) => `${BASE}clients/${org.web.application.id}/${rest}`;
    const secrets = async () => {
      const { organisation, web } = org;
      const found = await findApplication(
        running.service.database.query,
        organisation.id,
        web.application.id,
      );
      return (found?.secrets ?? []).filter(({ revokedAt }) => revokedAt === null).length;
    };

    test("a signature recorded at a GET fits no call that changes something", async () => {
      const signature = hmacSignature(account.secret, Buffer.alloc(0));
      const authorization = `${account.publicKey}:${signature}`;
      const list = await fetch(`${running.baseUrl}${BASE}clients`, { headers: { authorization } });
      assert.equal(list.status, 200, "the recorded call");
      assert.ok(changing.length > 26);
      for (const { method, path } of changing) {
        const ids = [org.web.application.id, org.user.id, randomUUID()];
        for (const id of ids) {
          const here = path.replace(":org", org.organisation.id).replaceAll(/:\w+/g, id);
          const url = `${running.baseUrl}${here}`;
          const { status } = await fetch(url, { method, headers: { authorization } });
          // 400: the operation needs a body, which this signature does not cover.
          assert.ok(status === 401 || status === 400, `${method} ${path}: ${status}`);
          if (method === "DELETE" || path.startsWith(DEVICES)) assert.equal(status, 401, path);
        }
      }
      const events = await listAuditEvents(running.service.database.query, org.organisation.id, 50);
      assert.ok(events.some(({ details }) => details?.["reason"] === "strict-form-required"));
    });

    test("no plain signature rotates a secret, and none without content revokes any", async () => {
      const { organisation, web } = org;
      const of = { orgId: organisation.id, applicationId: web.application.id, actor: "test" };
      await createClientSecret(running.service, { ...of, label: "second", expiresAt: null });
      const before = await secrets();
      for (const body of [undefined, {}, { label: "x" }, { label: null }])
        assert.equal((await call(clientPath("rotate-secret"), "POST", body)).status, 401);
      for (const body of [undefined, {}, { secretId: null }])
        assert.equal((await call(clientPath("revoke-old-secret"), "POST", body)).status, 401);
      assert.equal(await secrets(), before);
      assert.equal((await call(clientPath("rotate-secret"), "POST", undefined, true)).status, 201);
      assert.equal((await call(clientPath("revoke-old-secret"), "POST", {}, true)).status, 204);
      assert.equal(await secrets(), 1);
    });

    test("no plain signature changes devices, whatever its body says", async () => {
      const devices = changing.filter(({ path }) => path.startsWith(DEVICES));
      assert.ok(devices.length >= 4);
      for (const { path } of devices) {
        const here = path.replace(":org", org.organisation.id).replace(":id", randomUUID());
        for (const body of [{}, { name: "Till" }, { reason: "superseded" }, { attestation: "none" }])
          assert.equal((await call(here, "POST", body)).status, 401, here);
      }
      const register = `${DEVICES}${org.organisation.id}/register`;
      assert.equal((await call(register, "POST", { name: "Till" }, true)).status, 201);
    });

    test("a recorded registration of a signing agent shows no API key again", async () => {
      const pool = await makePool(running.service, org);
      const keys = [presentedKey(running.service, pool, newAgentKey("ES256"))];
      const path = `/oauth/${org.organisation.id}/sovereign/admin/agents`;
      const body = { poolId: pool.id, name: "Once", keys };
      assert.equal(typeof (await call(path, "POST", body)).body["apiKey"], "string");
      const again = await call(path, "POST", body);
      assert.deepEqual([again.status, again.body["error"]], [409, "duplicate_key"]);
      clock.advance(301_000);
      assert.equal((await call(path, "POST", body)).body["apiKey"], undefined);
    });

    test("the plain form stays where the body says what is meant", async () => {
      const made = await call(`${BASE}clients`, "POST", { name: "Shop", clientType: "confidential" });
      assert.equal(made.status, 201);
      const { clientId, secrets: first } = made.body as { clientId: string; secrets: { id: string }[] };
      const path = `${BASE}clients/${clientId}`;
      assert.equal((await call(path, "PUT", { name: "Shop 2", clientType: "confidential" })).status, 200);
      const secretId = first[0]?.id;
      assert.equal((await call(`${path}/revoke-old-secret`, "POST", { secretId })).status, 204);
      assert.equal((await call(path, "DELETE")).status, 401);
      assert.equal((await call(path, "DELETE", undefined, true)).status, 204);
    });
  });
});
