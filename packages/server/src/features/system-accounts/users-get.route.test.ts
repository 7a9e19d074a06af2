/** Users by email: members and guests of the caller's organisation, as a session key shows them. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { insertMembership } from "../../core/users/users.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { makeSessionKey } from "../../testing/fixtures/session-key.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../testing/fixtures/system-account.ts";
import { withUser } from "../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let host: TestOrganisation;
  let home: TestOrganisation;
  let account: TestAccount;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    host = await makeOrganisation(running.service);
    home = await makeOrganisation(running.service, "Home");
    account = await makeSystemAccount(running.service, host);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const find = (email: string) =>
    callApi(`${running.baseUrl}/legacy/api/users/get`, account, { body: { email } });
  const invite = async (email: string) => {
    const { user } = await withUser(running.service, home, email);
    const membership = { orgId: host.organisation.id, homeOrgId: home.organisation.id, userId: user.id };
    await insertMembership(running.service.database.query, {
      ...membership,
      role: "Administrator",
      now: Date.now(),
    });
    return user;
  };

  test("finds a guest with the record that auth/validate shows", async () => {
    const guest = await invite("guest@home.example");
    const { status, body } = await find("Guest@home.example");
    assert.equal(status, 200);
    assert.deepEqual(
      [body["PermId"], body["OrganisationId"], body["Role"]],
      [guest.id, host.organisation.id, "Administrator"],
    );
    const key = await makeSessionKey(running.service, { ...host, user: guest });
    const validated = await callApi(`${running.baseUrl}/legacy/api/auth/validate?key=${key}`, undefined);
    assert.deepEqual(validated.body["User"], body);
  });

  test("prefers the organisation's own user, and finds nobody of another organisation", async () => {
    await invite(host.user.email);
    assert.equal((await find(host.user.email)).body["PermId"], host.user.id);
    const { user } = await withUser(running.service, home, "never-invited@home.example");
    assert.equal((await find(user.email)).status, 404);
  });
});
