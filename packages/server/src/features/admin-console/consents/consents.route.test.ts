/** The pages of consents and pre-authorizations: who is found, who may be allowed what, and what ends. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import {
  findConsentRecord,
  findPreauthorization,
  listConsents,
} from "../../../core/consents/consents.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { signInAndConsent } from "../../../testing/fixtures/visit.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../../../testing/probes/console-browser.ts";
import { makeClient, startTestService, type TestService } from "../../../testing/test-service.ts";

describe("consent pages", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: SeededRecords;
    let other: SeededRecords;
    let here: ConsoleBrowser;
    let orgId: string;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh() });
      org = await seedRecords(running.service, "Acme");
      other = await seedRecords(running.service, "Beta");
      orgId = org.organisation.id;
      here = await consoleBrowser(running, org);
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const idsOn = (body: string) => [...body.matchAll(/id="consent-([0-9a-f-]{36})"/g)].map(([, id]) => id);
    const consents = (filter = {}) =>
      listConsents(running.service.database.query, orgId, { limit: 100, ...filter });
    const planted = () => org.ids["consents"] ?? "";
    const application = () => org.ids["applications"] ?? "";

    test("filters consents by user, application and kind", async () => {
      await signInAndConsent(testBrowser(), org);
      const newestFirst = async (filter = {}) => (await consents(filter)).map(({ id }) => id).reverse();
      const users = await newestFirst({ kind: "user", userId: org.user.id });
      assert.notEqual(users.length, 0);
      const all = await here.get("/consents");
      assert.deepEqual(idsOn(all.body), await newestFirst(), "newest first");
      assert.match(all.body, /user@acme\.example/);
      const found = async (query: string) => idsOn((await here.get(`/consents?${query}`)).body);
      assert.deepEqual(await found("search=USER@acme.example"), users);
      const ofAll = await found("kind=organisation");
      assert.deepEqual(ofAll, await newestFirst({ kind: "organisation" }));
      assert.ok(ofAll.includes(planted()));
      assert.match(all.body, /href="[^"]*\/shared-applications"><bdi>Web</, "another organisation's");
      assert.deepEqual(
        await found(`application=${application()}`),
        await newestFirst({ applicationId: application() }),
      );
      assert.deepEqual(await found("state=revoked"), []);
      assert.match((await here.get("/consents?search=nobody@acme.example")).body, /id="nothing-found"/);
      assert.match((await here.get("/consents?application=%25")).body, /id="nothing-found"/, "no wildcard");
      const several = await here.get("/consents?application=web");
      assert.match(several.body, /id="application-choices"/, "three are called that");
      assert.deepEqual(idsOn(several.body), []);
      for (const odd of ["before=x", "kind=x", "state=x", "done=toString"])
        assert.equal((await here.get(`/consents?${odd}`)).status, 200, odd);
    });

    test("grants consent for everyone and for one user", async () => {
      const { application } = await makeClient(running.service, org.organisation, {
        redirectUris: ["https://allowed.example/callback"],
        allowedScopes: ["openid", "email"],
      });
      const path = `/consents/new?application=${application.id}`;
      const everybody = await here.send(path, { scopes: "email" });
      assert.match(everybody.location ?? "", /\/consents\?done=granted$/);
      const [given] = await consents({ applicationId: application.id });
      assert.deepEqual(
        [given?.kind, given?.scopes, given?.grantedBy],
        ["organisation", ["email"], `user:${org.administrator.id}`],
      );
      const [event] = await listAuditEvents(running.service.database.query, orgId, 1);
      assert.equal(event?.action, "consent.granted-for-organisation");
      assert.ok(event?.address);
      const one = await here.send(path, { forWhom: "user", email: " USER@acme.example ", scopes: "openid" });
      assert.equal(one.status, 303);
      const [personal] = await consents({ applicationId: application.id, kind: "user" });
      assert.equal(personal?.userId, org.user.id);
    });

    test("grants nothing to another organisation's user, and no scope that the application may not request", async () => {
      const path = `/consents/new?application=${application()}`;
      const before = await consents();
      const faults: [Record<string, string | undefined>, string][] = [
        [{}, "scopes"],
        [{ scopes: "phone" }, "scopes"],
        [{ scopes: "openid", forWhom: "user", email: other.user.email }, "email"],
        [{ scopes: "openid", forWhom: "user" }, "email"],
        [{ scopes: "openid", forWhom: "all" }, "forWhom"],
      ];
      for (const [change, field] of faults) {
        const page = await here.send(path, change);
        assert.equal(page.status, 400, JSON.stringify(change));
        assert.ok(page.body.includes(`href="#${field}"`), JSON.stringify(change));
      }
      const theirs = other.ids["applications"] ?? "";
      assert.equal((await here.get(`/consents/new?application=${theirs}`)).status, 404);
      const sent = await here.send(path, { scopes: "openid", application: theirs });
      assert.equal(sent.status, 404);
      assert.deepEqual(await consents(), before);
    });

    test("revokes a consent after confirmation and lists it as revoked", async () => {
      const path = `/consents/${planted()}/revoke`;
      const question = await here.get(path);
      assert.match(question.body, /id="consent-revoke-confirm"/);
      assert.match(question.body, /<code>openid<\/code>/);
      const done = await here.post(path, formOfPage(question));
      assert.match(done.location ?? "", /done=revoked$/);
      const key = { orgId, id: planted() };
      assert.notEqual((await findConsentRecord(running.service.database.query, key))?.revokedAt, null);
      const { body } = await here.get("/consents?state=revoked");
      assert.deepEqual(idsOn(body), [planted()]);
      const until = /data-label="Revoked"><div>.*by ([^<]*)</.exec(body)?.[1];
      assert.equal(until, org.administrator.email, "who took it back");
      assert.match(
        (await here.post(path, formOfPage(question))).location ?? "",
        /done=already$/,
        "pressed twice",
      );
    });

    test("creates, lists and deletes pre-authorizations", async () => {
      const path = `/preauthorizations/new?application=${application()}`;
      const made = await here.send(path, { scopes: "email" });
      assert.match(made.location ?? "", /done=preauthorized$/);
      const twice = await here.send(path, { scopes: "email" });
      assert.equal(twice.status, 400, "there is one of these scopes");
      const id = org.ids["preauthorizations"] ?? "";
      const list = await here.get(`/preauthorizations?search=${application()}`);
      assert.equal(idsOn(list.body).length, 2);
      const done = await here.send(`/preauthorizations/${id}/delete`);
      assert.match(done.location ?? "", /done=removed$/);
      assert.equal(await findPreauthorization(running.service.database.query, { orgId, id }), undefined);
      assert.equal((await here.get(`/preauthorizations/${id}/delete`)).status, 404);
    });

    test("hides another organisation's records", async () => {
      const consent = other.ids["consents"] ?? "";
      const ahead = other.ids["preauthorizations"] ?? "";
      const { csrf = "" } = (await here.get(`/consents/new?application=${application()}`)).hidden;
      for (const path of [`/consents/${consent}/revoke`, `/preauthorizations/${ahead}/delete`]) {
        assert.equal((await here.get(path)).status, 404, path);
        assert.equal((await here.post(path, { csrf })).status, 404, path);
      }
      const key = { orgId: other.organisation.id, id: consent };
      assert.equal((await findConsentRecord(running.service.database.query, key))?.revokedAt, null);
      assert.deepEqual(
        idsOn((await here.get(`/consents?application=${other.ids["applications"]}`)).body),
        [],
      );
    });

    test("lists 25 on a page and continues on the next", async () => {
      const { database } = running.service;
      await sql`insert into consent (org_id, id, kind, application_id, user_id, scope, granted_by, granted_at)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)
        select ${orgId}, '01990000-0000-7000-8000-' || (100000000000 + i), 'user', ${org.batch.application.id},
          'gone-' || i, 'openid', 'user:gone', 1 from n`.execute(database.query);
      await sql`insert into preauthorization (org_id, id, application_id, scope, created_by, created_at)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)
        select ${orgId}, '01990000-0000-7000-8000-' || (100000000000 + i), ${org.batch.application.id},
          'openid scope-' || i, 'user:gone', 1 from n`.execute(database.query);
      const batch = org.batch.application.id;
      for (const first of [
        `/consents?kind=user&application=${batch}`,
        `/preauthorizations?search=${batch}`,
      ]) {
        const seen: (string | undefined)[] = [];
        let path = first;
        for (let page = 0; page < 3; page += 1) {
          const { body } = await here.get(path);
          seen.push(...idsOn(body));
          const next = /id="page-older" href="([^"]+)"/.exec(body)?.[1]?.replaceAll("&amp;", "&");
          path = next?.replace(/^.*(?=\/(?:consents|preauthorizations))/, "") ?? "";
        }
        assert.equal(path, "", first);
        assert.equal(seen.length, 60, first);
        assert.deepEqual(seen, [...new Set(seen)].sort().reverse());
      }
      assert.match((await here.get("/consents")).body, /A former user/);
    });
  });
});
