import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type AuditEvent, listAuditEvents, recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { findHead } from "../../../core/audit/chain/chain.store.ts";
import { chainOrganisation } from "../../../core/audit/chain/chaining.ts";
import { cutBatch } from "../../../core/audit/retention/cut-chain.ts";
import { removeExpired } from "../../../core/housekeeping/housekeeping.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { showsLogin, visit } from "../../../testing/fixtures/visit.ts";
import { type ConsoleBrowser, consoleBrowser, textOf } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

const FIREFOX = "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0";
const FRESHNESS_MS = 600_000;

describe("audit log pages", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let clock: FakeClock;
    let org: SeededRecords;
    let other: SeededRecords;
    let admin: ConsoleBrowser;
    before(async () => {
      clock = fakeClock();
      running = await startTestService({ databaseUrl: await fresh(), clock });
      org = await seedRecords(running.service, "Acme");
      other = await seedRecords(running.service, "Beta");
      admin = await consoleBrowser(running, org);
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const db = () => running.service.database.query;
    const happened = (event: Partial<AuditEvent>, at = org) =>
      recordAuditEvent(db(), {
        orgId: at.organisation.id,
        at: clock(),
        actor: `user:${at.administrator.id}`,
        action: "application.changed",
        ...event,
      });
    const newest = async () => {
      const [event] = await listAuditEvents(db(), org.organisation.id, 1);
      assert.ok(event);
      return event;
    };
    const rowsOf = (body: string) => [...body.matchAll(/<tr role="row" id="event-([\da-f-]{36})"/g)].length;

    test("omits the label of an empty cell on narrow screens", async () => {
      await happened({ target: org.user.id, action: "user-settings.changed" });
      const { body } = await admin.get("/audit-log?event=user-settings.changed");
      assert.equal(rowsOf(body), 1);
      assert.doesNotMatch(body, /data-label="IP address"/);
    });

    test("shows an event with actor, action and a link to its target", async () => {
      await happened({ target: org.user.id, action: "user.enabled", address: "192.0.2.44" });
      const { body } = await admin.get("/audit-log?event=user.enabled");
      assert.equal(rowsOf(body), 1);
      assert.match(body, /User enabled/);
      assert.match(body, new RegExp(`<bdi>${org.administrator.email}</bdi>`));
      assert.match(body, new RegExp(`/users/${org.user.id}"><bdi>${org.user.email}</bdi>`));
      assert.match(body, /192\.0\.2\.44/);
      assert.match(body, /data-label="IP address"/);
      const german = await admin.browser.get(
        `${running.baseUrl}/oauth/manage/${org.organisation.id}/audit-log?event=user.enabled`,
        { "accept-language": "de" },
      );
      assert.match(german.body, /Benutzer aktiviert/);
    });

    test("shows a deleted record by its id and an unknown action by its name", async () => {
      const gone = "0190a1b2-0000-4000-8000-00000000dead";
      await happened({ target: gone, action: "application.deleted", actor: `user:${gone}` });
      const { body } = await admin.get("/audit-log?event=application.deleted");
      assert.match(body, new RegExp(`<code>${gone.slice(0, 13)}…</code>`));
      assert.doesNotMatch(body, new RegExp(`/applications/${gone}`));
      assert.match(body, /A former user/);
      await happened({ action: "nonsense.invented" as AuditEvent["action"], target: "<script>x" });
      const { body: all } = await admin.get("/audit-log");
      assert.match(all, /nonsense\.invented/);
      assert.match(all, /&lt;script&gt;x/);
    });

    test("says what is known of an actor without a name", async () => {
      const gone = "0190a1b2-0000-4000-8000-00000000dead";
      const labels = {
        [`agent:${gone}`]: "A signing agent",
        [`device:${gone}`]: "A device",
        "import-script": "import-script",
        anonymous: "Unauthenticated",
      };
      for (const [actor, label] of Object.entries(labels)) {
        await happened({ target: org.user.id, action: "user.disabled", actor });
        const { body } = await admin.get(`/audit-log?event=user.disabled`);
        assert.ok(body.includes(`<bdi>${label}</bdi>`), actor);
      }
    });

    test("searches by text, category, event and day, and keeps what was typed", async () => {
      const day = new Date(clock()).toISOString().slice(0, 10);
      await happened({ target: "till", action: "device.revoked", address: "198.51.100.7" });
      await happened({ target: "till", action: "user.disabled", address: "198.51.100.7", actor: "operator" });
      const finds = async (query: string, count: number) => {
        const { body, status } = await admin.get(`/audit-log?${query}`);
        assert.equal(status, 200, query);
        assert.equal(rowsOf(body), count, query);
        return body;
      };
      const who = encodeURIComponent(org.administrator.email);
      const body = await finds(
        `search=${who}&category=devices&event=device.revoked&from=${day}&to=${day}`,
        1,
      );
      assert.match(body, new RegExp(`name="search"[^>]*value="${org.administrator.email}"`));
      assert.match(body, /<option value="device\.revoked" selected>/);
      assert.match(body, /<option value="devices" selected>/);
      assert.doesNotMatch(body, /<option value="user\.disabled"/, "events of the category only");
      assert.match(body, new RegExp(`id="from"[^>]*value="${day}"`));
      await finds("search=198.51.100.7", 2);
      await finds("search=198.51.100.7&category=devices", 1);
      await finds("search=198.51.100.7&event=user.disabled", 1);
      await finds("search=198.51.100.7&category=devices&event=user.disabled", 1);
      await finds("search=till", 2);
      await finds("to=2001-01-01", 0);
      assert.match(await finds("search=nobody%40acme.example", 0), /id="none-hint"/);
      await finds("category=nonsense&event=nonsense&from=2026-02-31&search=198.51.100.7", 2);
      await finds(`search=${other.user.id}`, 0);
      await finds(`search=${encodeURIComponent(other.user.email)}`, 0);
    });

    test("pages of the audit log contain each event once", async () => {
      for (let at = 0; at < 30; at++) await happened({ target: "many", action: "scope.changed" });
      const first = await admin.get("/audit-log?search=many");
      assert.equal(rowsOf(first.body), 25);
      const older = /id="page-older" href="[^"]*\/audit-log(\?[^"]*)"/
        .exec(first.body)?.[1]
        ?.replaceAll("&amp;", "&");
      assert.ok(older);
      const second = await admin.get(`/audit-log${older}`);
      assert.equal(rowsOf(second.body), 5);
      assert.match(second.body, /id="page-newest"/);
      const ids = ({ body }: { body: string }) =>
        [...body.matchAll(/id="event-([\da-f-]{36})"/g)].map(([, id]) => id);
      assert.equal(new Set([...ids(first), ...ids(second)]).size, 30);
      assert.equal(textOf(first, "page-range"), "1–25 of 30");
      assert.equal(textOf(second, "page-range"), "26–30 of 30");
      const previous = /id="page-previous" href="[^"]*\/audit-log(\?[^"]*)"/.exec(second.body)?.[1] ?? "";
      const back = await admin.get(`/audit-log${previous.replaceAll("&amp;", "&")}`);
      assert.deepEqual(ids(back), ids(first));
      assert.equal(textOf(back, "page-range"), "1–25 of 30");
      assert.doesNotMatch(back.body, /id="page-previous"/);
      for (const odd of ["after=x", "after=1.x&row=x", "before=..&row=-1", "row=99999999999"])
        assert.equal((await admin.get(`/audit-log?search=many&${odd}`)).status, 200, odd);
      assert.match(first.body, /<template data-list-keys>/);
    });

    test("shows all details of an event, with links to related ones", async () => {
      await happened({
        target: org.user.id,
        action: "password.set",
        address: "192.0.2.9",
        details: { scopes: ["a", "b"] },
      });
      const { id } = await newest();
      const waiting = await admin.get(`/audit-log/${id}`);
      assert.match(waiting.body, /This event joins the chain within seconds/);
      const { database, chainKey } = running.service;
      await chainOrganisation({ database, clock, key: chainKey }, org.organisation.id);
      const { seq, hash } = await newest();
      const { body } = await admin.get(`/audit-log/${id}`);
      assert.match(body, new RegExp(`id="event-hash"><code>${hash}</code>`));
      assert.equal(textOf({ body }, "event-seq"), String(seq));
      assert.match(body, /<code>a, b<\/code>/);
      for (const [link, query] of Object.entries({
        "same-who": `search=user%3A${org.administrator.id}`,
        "same-target": `search=${org.user.id}`,
        "same-address": "search=192.0.2.9",
      }))
        assert.match(body, new RegExp(`id="${link}" href="[^"]*\\?${query}"`), link);
      assert.equal((await admin.get("/audit-log/0190a1b2-0000-7000-8000-000000000000")).status, 404);
      assert.equal((await admin.get("/audit-log/nonsense")).status, 404);
      const [foreign] = await listAuditEvents(db(), other.organisation.id, 1);
      assert.equal((await admin.get(`/audit-log/${foreign?.id}`)).status, 404, "another organisation's");
    });

    test("a failed sign-in is found by the email address that was typed, in its own organisation only", async () => {
      const { service } = running;
      const typed = `Typo-${other.user.email}`;
      const browser = testBrowser();
      const { hidden } = await visit(browser, org);
      const form = { ...hidden, email: typed, password: "not the password" };
      const failed = await browser.post(`${org.issuer}/login`, form, { "user-agent": FIREFOX });
      assert.equal(failed.status, 401);
      const { body } = await admin.get(`/audit-log?search=${encodeURIComponent(typed)}`);
      assert.equal(rowsOf(body), 1);
      for (const shown of [
        typed.toLowerCase(),
        "Sign-in failed",
        "No account with this email address",
        "Firefox, Windows",
        org.web.application.name,
      ])
        assert.ok(body.includes(shown), shown);
      const event = await newest();
      const page = await admin.get(`/audit-log/${event.id}`);
      assert.ok(page.body.includes(`id="event-typed-email"><bdi>${typed.toLowerCase()}</bdi>`));
      assert.match(page.body, /id="event-reference"><code>test-[a-z0-9]+<\/code>/);
      const reference = event.context?.requestId ?? "";
      assert.equal(rowsOf((await admin.get(`/audit-log?search=${reference}`)).body), 1);
      const foreign = await consoleBrowser(running, other);
      const elsewhere = await foreign.get(`/audit-log?search=${encodeURIComponent(typed)}`);
      assert.equal(rowsOf(elsewhere.body), 0);
      const csv = await admin.get(`/audit-log/export?format=csv&search=${encodeURIComponent(typed)}`);
      assert.equal(csv.body.trimEnd().split("\r\n").length, 2, "the export keeps the search");
      assert.ok(csv.body.includes(typed.toLowerCase()));
      clock.advance(91 * 86_400_000);
      await removeExpired(service);
      admin = await consoleBrowser(running, org);
      assert.equal(rowsOf((await admin.get(`/audit-log?search=${encodeURIComponent(typed)}`)).body), 0);
      assert.doesNotMatch((await admin.get(`/audit-log/${event.id}`)).body, /id="event-typed-email"/);
    });

    test("a spreadsheet formula typed as an email address is text in the export", async () => {
      await happened({ action: "sign-in.failed", actor: "anonymous", typedEmail: "=cmd+1@acme.example" });
      const { body } = await admin.get("/audit-log/export?format=csv&search=%3Dcmd%2B1%40acme.example");
      assert.match(body, /,'=cmd\+1@acme\.example\r\n$/);
    });

    test("the reference on an error page finds its event, or the request that was refused", async () => {
      const errorOf = async (path: string) => {
        const response = await fetch(`${running.baseUrl}${path}`, { headers: { accept: "text/html" } });
        const [, reference = ""] =
          /<dl class="reference">.*?<code>([^<]+)/s.exec(await response.text()) ?? [];
        assert.notEqual(reference, "", path);
        return reference;
      };
      const { id } = org.web.application;
      const query = `response_type=code&client_id=${id}&redirect_uri=https%3A%2F%2Fevil.example`;
      const reference = await errorOf(`/oauth/${org.organisation.id}/authorize?${query}`);
      const { body } = await admin.get(`/audit-log?search=${reference}`);
      assert.match(body, /id="refused-request"/);
      assert.ok(body.includes(`/applications/${id}#refused`));
      const foreign = await consoleBrowser(running, other);
      assert.doesNotMatch((await foreign.get(`/audit-log?search=${reference}`)).body, /id="refused-request"/);
      await happened({ target: org.user.id });
      const event = await newest();
      assert.equal(event.context?.requestId, undefined, "not of a request");
    });

    test("administrators save a search, share it and delete it", async () => {
      const path = `/saved-filters/new?list=audit-log&query=${encodeURIComponent("search=192.0.2.44&category=users")}`;
      const named = await admin.get(path);
      assert.match(named.body, /id="name"/);
      const { body } = await admin.get("/audit-log?search=192.0.2.44&category=users");
      assert.match(
        body,
        /id="filter-save" href="[^"]*\/saved-filters\/new\?list=audit-log&amp;query=search%3D192\.0\.2\.44%26category%3Dusers"/,
      );
      const wrong = await admin.send(path, { name: " " });
      assert.equal(wrong.status, 400);
      assert.match(wrong.body, /id="name-fault"/);
      const saved = await admin.send(path, { name: "<b>Users</b>" });
      assert.equal(saved.status, 303);
      const colleague = await consoleBrowser(running, org);
      const shared = await colleague.get("/audit-log?search=192.0.2.44&category=users&done=filter-saved");
      assert.match(shared.body, /Filter saved/);
      assert.match(shared.body, /aria-current="true"><bdi>&lt;b&gt;Users&lt;\/b&gt;<\/bdi>/);
      assert.doesNotMatch(shared.body, /id="filter-save"/);
      const foreign = await consoleBrowser(running, other);
      assert.doesNotMatch((await foreign.get("/audit-log")).body, /&lt;b&gt;Users/);
      const [, remove = ""] =
        /id="filter-delete" href="[^"]*(\/saved-filters\/[^"]*)"/.exec(shared.body) ?? [];
      assert.equal((await foreign.get(remove)).status, 404);
      assert.equal((await colleague.send(remove)).status, 303);
      assert.doesNotMatch((await admin.get("/audit-log")).body, /&lt;b&gt;Users/);
    });

    test("users and applications show their last events, with the way to all of them", async () => {
      await happened({
        action: "sign-in.failed",
        actor: "anonymous",
        target: org.user.id,
        applicationId: org.web.application.id,
        details: { reason: "wrong password" },
      });
      for (const [path, id] of [
        [`/users/${org.user.id}/activity`, org.user.id],
        [`/applications/${org.web.application.id}`, org.web.application.id],
      ] as const) {
        const { body } = await admin.get(path);
        const [, card = ""] = /<section class="card" id="activity"(.*?)<\/section>/s.exec(body) ?? [];
        assert.match(card, /Sign-in failed/);
        assert.match(card, /Wrong password/);
        assert.ok(card.includes(`/audit-log?search=${id}`), path);
        assert.ok([...card.matchAll(/<li/g)].length <= 20);
      }
    });

    test("shows the length of the hash chain and how to verify it", async () => {
      const head = await findHead(db(), org.organisation.id);
      const { body } = await admin.get("/audit-log");
      const check = `signet audit verify --org ${org.organisation.id} --expect ${head?.seq}:${head?.hash}`;
      assert.equal(textOf({ body }, "chain-check"), check);
      const fresh = await consoleBrowser(running, other);
      assert.match((await fresh.get("/audit-log")).body, /No events chained yet/);
      assert.doesNotMatch(body, /id="chain-cut"/);
    });

    test("says since when the log reaches, after retention has cut it", async () => {
      const { database, chainKey: key } = running.service;
      const chain = { database, clock, key };
      await chainOrganisation(chain, other.organisation.id);
      const cut = { orgId: other.organisation.id, before: clock() + 1, months: 1, isFirst: true };
      assert.equal(await cutBatch(chain, cut, 1), 1);
      const { body } = await (await consoleBrowser(running, other)).get("/audit-log");
      const said =
        /id="chain-cut">The log reaches back to <time [^>]+>[^<]+<\/time>: earlier events were deleted\./;
      assert.match(body, said);
    });

    test("exports the search result as a file and records the export", async () => {
      const csv = await admin.get("/audit-log/export?format=csv&search=many");
      assert.equal(csv.status, 200);
      assert.match(
        csv.headers.get("content-disposition") ?? "",
        /^attachment; filename="audit-\d{4}-\d\d-\d\d\.csv"$/,
      );
      assert.equal(csv.headers.get("cache-control"), "no-store");
      assert.equal(csv.body.trimEnd().split("\r\n").length, 31);
      const { action, actor, details } = await newest();
      assert.deepEqual([action, actor], ["audit.exported", `user:${org.administrator.id}`]);
      assert.deepEqual(details, { format: "csv", filters: ["subjects"] });
      const jsonl = await admin.get("/audit-log/export?format=jsonl");
      assert.match(jsonl.headers.get("content-type") ?? "", /^application\/x-ndjson/);
      const lines = jsonl.body
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      assert.deepEqual([lines[0].seq, lines.at(-1).action, lines.at(-1).seq], [1, "audit.exported", null]);
      assert.ok(lines.every(({ orgId }) => orgId === org.organisation.id));
      clock.advance(FRESHNESS_MS + 1_000);
      const later = await admin.get("/audit-log/export?format=csv");
      assert.ok(
        later.status === 303 || later.status === 302 || showsLogin(later),
        "asks for a fresh sign-in",
      );
      assert.doesNotMatch(later.body, /organisation\.created/);
    });
  });
});
