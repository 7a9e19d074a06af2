/** What was deleted elsewhere and is remembered here: asked to come again, refused then, and never a fault of ours. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { deleteApplication } from "../../core/applications/application-changes.ts";
import { grantApplication } from "../../core/system-accounts/system-accounts.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { notificationsDelivered } from "../../testing/fakes/change-notifications.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const grantTypes = ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"] as const;

describe("records deleted before the node is notified", () => {
  forEachDatabase(({ fresh }) => {
    let clock: FakeClock;
    let running: TestService;
    let org: TestOrganisation;
    let administrator: TestAccount;
    before(async () => {
      clock = fakeClock();
      running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
      org = await makeOrganisation(running.service);
      administrator = await makeSystemAccount(running.service, org, { administrator: true });
    });
    after(() => running.close());

    /** The service of another node, whose news do not arrive. */
    const elsewhere = () => ({
      ...running.service,
      changes: { ...running.service.changes, publish: async () => {} },
    });
    const named = (id: string) => ({ orgId: org.organisation.id, id, actor: "test" });

    async function comesBackLater(
      ask: () => Promise<{ status: number }>,
      good: number,
      remove: () => Promise<boolean>,
      refused: number,
    ): Promise<void> {
      // What was made a moment ago is news too, and PostgreSQL's takes its time.
      await notificationsDelivered(running.service);
      assert.equal((await ask()).status, good);
      assert.equal(await remove(), true);
      assert.equal((await ask()).status, 503);
      clock.advance(30_000);
      assert.equal((await ask()).status, refused);
    }

    test("an application that a user signs in to", async () => {
      const { id } = (await makeClient(running.service, org.organisation, {})).application;
      const url = `${running.baseUrl}/legacy/api/Authentication/User/Login/${id}`;
      const body = { Email: org.user.email, Password: org.user.password };
      await grantApplication(running.service, { ...named(administrator.id), applicationId: id });
      const ask = () => callApi(url, administrator, { body });
      await comesBackLater(ask, 200, () => deleteApplication(elsewhere(), named(id)), 401);
    });

    test("an application that requests a device code", async () => {
      const device = await makeClient(running.service, org.organisation, { grantTypes: [...grantTypes] });
      const ask = () => postForm(`${org.issuer}/device`, { ...credentials(device), scope: "openid" });
      const { id } = device.application;
      await comesBackLater(ask, 200, () => deleteApplication(elsewhere(), named(id)), 401);
    });
  });
});
