// What somebody may take along as a file is theirs, and of the organisation that they ask: whoever has nothing is given nothing.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { codeSource } from "../../../testing/fakes/code-source.ts";
import { MAIL_ENV } from "../../../testing/fakes/mailbox.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { newSignInConnection } from "../../../testing/fixtures/sign-in-connection.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";
import { assignUser } from "../../application-access/application-access.ts";
import { putSettings } from "../../application-settings/application-settings.store.ts";
import { insertIdentity } from "../../connections/sign-in/linked-identities.store.ts";
import { recordBrowserUse } from "../../known-browsers/known-browsers.store.ts";
import { insertSessionKey } from "../../session-keys/session-keys.store.ts";
import { insertAcceptedTerms } from "../../terms/accepted-terms.store.ts";
import { requestNewEmail } from "../account-mails.ts";
import { findUser } from "../users.store.ts";
import { readAccount, readMemberships } from "./data-export.store.ts";
import { personalRecords } from "./personal-records.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), env: MAIL_ENV });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Beta");
    const orgId = org.organisation.id;
    const { id, email } = org.holder.user;
    // Those of another user, who has no second factor to show.
    await codeSource(org).tokens();
    await db().updateTable("token_family").set({ user_id: id }).where("org_id", "=", orgId).execute();
    await recordBrowserUse(db(), { orgId, userId: id, browserHash: "hash", now: 1 });
    const applicationId = org.ids["applications"] ?? "";
    await assignUser(running.service, { orgId, applicationId, userId: id, actor: "test" });
    await putSettings(db(), { orgId, applicationId, userId: id }, "{}", 1);
    await insertSessionKey(db(), {
      ...{ orgId, applicationId, userId: id, id: randomUUID(), keyHash: "hash", sessionId: null },
      ...{ kind: "UserPerm", authTime: 1, amr: ["pwd"], acr: "acr", address: "192.0.2.1" },
      ...{ createdAt: 1, validatedAt: null, lastSeenAt: 1, expiresAt: null },
    });
    const connectionId = await newSignInConnection(running.service, orgId);
    const times = { createdAt: 1, lastSignInAt: 2 };
    await insertIdentity(db(), { orgId, connectionId, subject: "holder-there", userId: id, ...times });
    await insertAcceptedTerms(db(), { orgId, userId: id, version: "2026-11", acceptedAt: 3 });
    const user = await findUser(db(), orgId, id);
    assert.ok(user);
    const { baseUrl } = running.service.config;
    await requestNewEmail({ ...running.service, baseUrl }, user, { newEmail: `new-${email}`, actor: "test" });
  });
  after(() => running.close());

  const db = () => running.service.database.query;
  const at = (orgId: string, id: string) => ({ orgId, homeOrgId: orgId, id });
  const holder = () => at(org.organisation.id, org.holder.user.id);
  /** How many of each kind there are. */
  const counts = async (whose: ReturnType<typeof at>, email: string) => {
    const records = await personalRecords(db(), { id: whose.homeOrgId }, { ...whose, email });
    const { account: _, memberships: __, secondFactors, ...others } = records;
    assert.ok(secondFactors);
    const { authenticatorApp, ...factors } = secondFactors;
    const lists = { authenticatorApp: authenticatorApp ? [authenticatorApp] : [], ...factors, ...others };
    return Object.fromEntries(Object.entries(lists).map(([kind, rows]) => [kind, rows.length]));
  };

  test("a user gets each kind of own record, and nobody else's or another organisation's", async () => {
    const { email } = org.holder.user;
    const mails = `new-${email}`;
    const own = await counts(holder(), mails);
    for (const [kind, count] of Object.entries(own)) assert.ok(count > 0, kind);
    assert.equal(own["consents"], 1, "each once");
    const none = Object.fromEntries(Object.keys(own).map((kind) => [kind, 0]));
    const neighbour = at(org.organisation.id, org.administrator.id);
    assert.deepEqual(await counts(neighbour, "nobody@acme.example"), none);
    assert.deepEqual(await counts(at(other.organisation.id, holder().id), mails), none);
  });

  test("account and memberships are read for one user of one home organisation", async () => {
    assert.equal((await readAccount(db(), holder()))?.email, org.holder.user.email);
    assert.equal((await readMemberships(db(), holder())).length, 1);
    const elsewhere = at(other.organisation.id, holder().id);
    assert.equal(await readAccount(db(), elsewhere), undefined);
    assert.deepEqual(await readMemberships(db(), elsewhere), []);
  });
});
