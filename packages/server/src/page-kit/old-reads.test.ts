/** Which pages read from a replica, and that a browser sees what it has changed. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { forEachDatabase } from "../testing/databases.ts";
import { type StandInReplica, standInReplica } from "../testing/fakes/stand-in-replica.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../testing/fixtures/administered-organisation.ts";
import { getTokens } from "../testing/fixtures/client.ts";
import { type ConsoleBrowser, consoleBrowser } from "../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let replica: StandInReplica;
  let org: AdministeredOrganisation;
  let admin: ConsoleBrowser;
  before(async () => {
    const databaseUrl = await fresh();
    replica = standInReplica(databaseUrl);
    running = await startTestService({ databaseUrl, replica });
    org = await administeredOrganisation(running.service, "Acme");
    admin = await consoleBrowser(running, org);
  });
  beforeEach(() => {
    // What the sign-in has changed is there.
    Object.assign(replica, { at: 5n, replayed: 5n, isBroken: false });
    replica.take();
  });
  after(async () => {
    await replica.close();
    await running.close();
  });

  const readThere = (table: string) => replica.take().some((one) => one.includes(`"${table}"`));

  test("lists, the search of the audit log and their files are read there, and nothing of a session", async () => {
    const pages = [
      ["/users", "membership"],
      ["/users/export", "membership"],
      ["/applications", "application"],
      ["/scopes", "custom_scope"],
      ["/consents", "consent"],
      ["/system-accounts", "system_account"],
      ["/pools", "signing_pool"],
      ["/audit-log", "audit_event"],
      ["/audit-log?search=ada", "audit_event"],
      ["/audit-log/export?format=jsonl", "audit_event"],
    ] as const;
    for (const [page, table] of pages) {
      const { status } = await admin.get(page);
      assert.equal(status, 200, page);
      const statements = replica.take();
      assert.ok(
        statements.some((one) => one.includes(`"${table}"`)),
        `${page}: ${table} is not read from the replica`,
      );
      for (const one of statements) assert.match(one, /^select/, page);
      assert.ok(!statements.some((one) => one.includes('"browser_session"')), page);
    }
    const devices = await admin.browser.get(`${running.baseUrl}/devices/manage/${org.organisation.id}`);
    assert.equal(devices.status, 200);
    assert.ok(readThere("device"), "the list of devices");
  });

  test("tokens, records and what is changed never are", async () => {
    await getTokens(org);
    await admin.get(`/users/${org.user.id}`);
    await admin.get(`/applications/${org.web.application.id}`);
    assert.deepEqual(replica.take(), []);
  });

  test("after a form a browser reads from the primary until the replica has what it has changed", async () => {
    replica.at = 9n;
    const edited = await admin.send(`/users/${org.user.id}/edit`, { firstname: "Grace" });
    assert.equal(edited.status, 303);
    const mark = edited.headers.getSetCookie().find((one) => one.startsWith("signet-changed="));
    assert.match(mark ?? "", /^signet-changed=9; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/);
    replica.take();
    const behind = await admin.get("/users");
    assert.ok(behind.body.includes("Grace"));
    assert.deepEqual(replica.take(), []);
    replica.replayed = 9n;
    assert.equal((await admin.get("/users")).status, 200);
    assert.ok(readThere("membership"));
    // Another browser has changed nothing.
    replica.replayed = 5n;
    const elsewhere = await consoleBrowser(running, org);
    elsewhere.browser.cookies.delete("signet-changed");
    replica.take();
    await elsewhere.get("/users");
    assert.ok(readThere("membership"));
  });

  test("a mark that somebody made up has the primary asked", async () => {
    for (const value of ["x", "-1", "9".repeat(21), "unknown", "%00"]) {
      admin.browser.cookies.set("signet-changed", value);
      assert.equal((await admin.get("/users")).status, 200, value);
      assert.deepEqual(replica.take(), [], value);
    }
    admin.browser.cookies.delete("signet-changed");
  });

  test("a replica that fails costs nobody a page or a file", async () => {
    admin.browser.cookies.delete("signet-changed");
    replica.isBroken = true;
    const { email } = org.user;
    for (const [page, expected] of [
      ["/users", email],
      ["/users/export", email],
      ["/audit-log", 'id="event-'],
      ["/audit-log/export?format=csv", "user.created"],
    ] as const) {
      const { status, body } = await admin.get(page);
      assert.equal(status, 200, page);
      assert.ok(body.includes(expected), page);
    }
  });
});
