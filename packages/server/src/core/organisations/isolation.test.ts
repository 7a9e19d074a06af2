/**
 * The wall between organisations, from inside: another organisation gets a copy of every row under the same
 * identifiers, hashes and addresses. Whatever happens in the one then leaves every row of the other as it was.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource, redeemWith } from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import { dumpDatabase, organisationTables } from "../../testing/probes/dump-database.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { findApplication, listApplications } from "../applications/applications.store.ts";
import { setApplicationStatus } from "../applications/applications.ts";
import { createClientSecret, revokeSecret } from "../applications/client-secrets.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { listUsers } from "../users/users.store.ts";
import { setPassword, setUserStatus } from "../users/users.ts";
import { createOrganisation, setOrganisationStatus } from "./organisations.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let twinId: string;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const db = () => running.service.database.query;
  const copyInto = async (orgId: string) => {
    for (const table of organisationTables) {
      const rows = await sql<Record<string, unknown>>`select * from ${sql.table(table)}
        where org_id = ${org.organisation.id}`.execute(db());
      for (const row of rows.rows) {
        const copy = { ...row, org_id: orgId, ...("home_org_id" in row ? { home_org_id: orgId } : {}) };
        const names = sql.join(Object.keys(copy).map((name) => sql.ref(name)));
        await sql`insert into ${sql.table(table)} (${names}) values (${sql.join(Object.values(copy))})`.execute(
          db(),
        );
      }
    }
  };

  test("rows of the same name in two organisations stay separate", async () => {
    const { service } = running;
    const source = codeSource(org);
    const [living, doomed, replayed] = [await source.tokens(), await source.tokens(), await source.tokens()];
    const [code, usedTwice] = [await source.code(), await source.code()];
    await refresh(org, replayed.refreshToken);
    const job = { grant_type: "client_credentials", ...credentials(org.batch) };
    const jobToken = String((await postForm(`${org.issuer}/token`, job)).body["access_token"]);
    twinId = (await createOrganisation({ clock }, db(), { name: "Twin", actor: "test" })).id;
    await copyInto(twinId);
    const before = await dumpDatabase(db(), twinId);
    assert.equal(before.split("\n").length > 30, true);

    const { id: applicationId, orgId } = org.web.application;
    const key = { orgId, applicationId, actor: "test" };
    const user = { orgId, id: org.user.id, actor: "test" };
    const steps: Array<() => Promise<unknown>> = [
      () => redeemWith(org, code),
      async () => [await redeemWith(org, usedTwice), await redeemWith(org, usedTwice)],
      () => refresh(org, living.refreshToken),
      async () => {
        clock.advance(11_000);
        await refresh(org, replayed.refreshToken);
      },
      () => postForm(`${org.issuer}/revoke`, { token: doomed.refreshToken, ...credentials(org.web) }),
      () => postForm(`${org.issuer}/revoke`, { token: jobToken, ...credentials(org.batch) }),
      () => source.code({ prompt: "login" }),
      async () => {
        const page = await source.browser.get(`${org.issuer}/end_session`);
        await source.browser.post(`${org.issuer}/end_session`, page.hidden);
      },
      () => createClientSecret(service, { ...key, label: "b", expiresAt: null }),
      async () => {
        const stored = await findApplication(db(), orgId, applicationId);
        await revokeSecret(service, { ...key, id: stored?.secrets[0]?.id ?? "" });
      },
      () => service.secretUse.flush(),
      () => service.keys.rotate(orgId, "ES256", { actor: "test", compromised: true }),
      () =>
        setPassword(service, {
          organisation: org.organisation,
          id: user.id,
          password: `${PASSWORD} 2`,
          about: [],
          actor: "test",
        }),
      () => setUserStatus(service, { ...user, disabled: true }),
      () => setApplicationStatus(service, { orgId, id: applicationId, disabled: true, actor: "test" }),
      () => setOrganisationStatus(service, { orgId, disabled: true, actor: "test" }),
    ];
    for (const step of steps) {
      const ours = await dumpDatabase(db(), orgId);
      await step();
      assert.equal(await dumpDatabase(db(), twinId), before, `the twin changed: ${step}`);
      if (step !== steps.at(-1))
        assert.notEqual(await dumpDatabase(db(), orgId), ours, `nothing happened: ${step}`);
    }
  });

  test("lists contain rows of one organisation only", async () => {
    const twin = await listApplications(db(), twinId, { limit: 100 });
    assert.ok(twin.length > 0 && twin.every(({ orgId }) => orgId === twinId));
    const users = await listUsers(db(), twinId, { limit: 100 });
    assert.ok(
      users.length > 0 && users.every(({ orgId, homeOrgId }) => orgId === twinId && homeOrgId === twinId),
    );
    const events = await listAuditEvents(db(), twinId, 100);
    assert.ok(events.length > 0 && events.every(({ orgId }) => orgId === twinId));
  });
});
