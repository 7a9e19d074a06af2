// A provider's new keys: each change is audited, and the administrators' mailboxes are not filled by a provider whose keys flicker.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../testing/fixtures/administered-organisation.ts";
import { newSignInConnection } from "../../../testing/fixtures/sign-in-connection.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";
import { listAuditEvents } from "../../audit/audit.store.ts";
import { findConnection } from "../connections.store.ts";
import { recordConnectionKeys } from "./connection-keys.ts";
import { isSignInConnection } from "./sign-in-connections.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: AdministeredOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, env: MAIL_ENV });
    org = await administeredOrganisation(running.service, "Keys");
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  test("keys that come and go are mailed once an hour, and audited each time", async () => {
    const { service } = running;
    const orgId = org.organisation.id;
    const id = await newSignInConnection(service, orgId);
    const connection = await findConnection(service.database.query, { orgId, id });
    assert.ok(connection && isSignInConnection(connection));
    const see = (...keys: string[]) =>
      recordConnectionKeys({ ...service, baseUrl: running.baseUrl }, connection, keys);
    const mailed = async () =>
      (await mailsTo(service, org.administrator.email)).filter(
        ({ mail }) => mail.template === "ConnectionKeysChanged",
      ).length;
    const audited = async () =>
      (await listAuditEvents(service.database.query, orgId, 100)).filter(
        ({ action, target }) => action === "connection.keys-changed" && target === id,
      ).length;
    await see("a");
    assert.deepEqual([await mailed(), await audited()], [0, 0]);
    clock.advance(30_000);
    await see("a", "b");
    assert.deepEqual([await mailed(), await audited()], [1, 1]);
    for (const key of ["a", "b", "a", "b"]) {
      clock.advance(30_000);
      await see(key);
    }
    assert.deepEqual([await mailed(), await audited()], [1, 4]);
    clock.advance(3_600_000);
    await see("b");
    assert.equal(await mailed(), 1, "nothing is new");
    await see("c");
    assert.deepEqual([await mailed(), await audited()], [2, 5]);
  });
});
