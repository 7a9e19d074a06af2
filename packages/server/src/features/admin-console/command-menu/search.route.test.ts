import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { follow, logIn } from "../../../testing/fixtures/visit.ts";
import { type ConsoleBrowser, consoleBrowser } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";
import { matchLabels } from "./find-results.ts";

interface Results {
  groups: Array<{ id: string; label: string; items: Array<{ label: string; note?: string; uri: string }> }>;
  status: string;
}

describe("the command menu's search", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: SeededRecords;
    let other: SeededRecords;
    let browser: ConsoleBrowser;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), clock: fakeClock() });
      org = await seedRecords(running.service, "Acme");
      other = await seedRecords(running.service, "Beta");
      browser = await consoleBrowser(running, org);
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const JSON_ONLY = { accept: "application/json" };
    const searchUri = (text: string, { organisation } = org) =>
      `${running.baseUrl}/oauth/manage/${organisation.id}/search?${new URLSearchParams({ q: text })}`;
    const find = async (text: string): Promise<Results> => {
      const answer = await browser.browser.get(searchUri(text), JSON_ONLY);
      assert.equal(answer.status, 200, answer.body);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      return JSON.parse(answer.body) as Results;
    };
    const group = async (text: string, id: string) =>
      (await find(text)).groups.find((one) => one.id === id)?.items ?? [];
    const consoleUri = (rest: string) => `/oauth/manage/${org.organisation.id}${rest}`;

    test("shows every page and action before anything is typed, and no record", async () => {
      const { groups } = await find("");
      assert.deepEqual(
        groups.map(({ id }) => id),
        ["pages", "actions"],
      );
      assert.equal(groups[0]?.items[0]?.label, "Home");
    });

    test("finds pages and actions by words in any order", async () => {
      const [first] = await group("app new", "actions");
      assert.deepEqual([first?.label, first?.uri], ["New application", consoleUri("/applications/new")]);
      assert.equal((await group("rotate", "actions"))[0]?.uri, consoleUri("/signing-keys"));
      assert.equal((await group("audit", "pages"))[0]?.label, "Audit log");
    });

    test("finds records of every kind by name, with a link that opens them", async () => {
      const expected = [
        ["users", "adaacme", 1],
        ["applications", "web", 1],
        ["pools", "seededrecords pool", 1],
        ["devices", "device acme", 1],
        ["scopes", "planted-acme", 1],
        ["groups", "seededrecords group", 1],
        ["roles", "planted", 1],
        ["resources", "planted-acme", 1],
        ["trusts", "repo:planted-acme", 1],
        ["tokenExchange", "exchange acme", 1],
        ["clientAuthorities", "ca acme", 1],
        ["authorizationDetailTypes", "detail acme", 1],
        ["initialAccessTokens", "token acme", 1],
      ] as const;
      for (const [kind, text, count] of expected) {
        const items = await group(text, kind);
        assert.ok(items.length >= count, `${kind}: ${text}`);
        const [item] = items;
        assert.ok(item);
        const page = await browser.browser.get(running.baseUrl + item.uri);
        assert.equal(page.status, 200, item.uri);
      }
    });

    test("leads from a pasted ID to its record", async () => {
      const { ids, user } = org;
      const planted: Array<[kind: string, id: string | undefined]> = [
        ["applications", ids["applications"]],
        ["users", user.id],
        ["scopes", ids["scopes"]],
        ["groups", ids["groups"]],
        ["roles", ids["roles"]],
        ["pools", ids["pool"]],
        ["devices", ids["manage"]],
        ["trusts", ids["trusts"]],
        ["initialAccessTokens", ids["initial-access-tokens"]],
      ];
      for (const [kind, id = ""] of planted) {
        const items = await group(id.toUpperCase(), kind);
        assert.equal(items.length, 1, kind);
        assert.ok(items[0]?.uri.endsWith(id), kind);
      }
      const eventId = ids["audit-log"] ?? "";
      const [event] = await group(eventId, "events");
      assert.equal(event?.uri, consoleUri(`/audit-log/${eventId}`));
    });

    test("leads from an error reference to the audit event of that request", async () => {
      const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
      const reference = event?.context?.requestId;
      assert.ok(event && reference, "an event of a request");
      const uris = (await group(reference, "events")).map(({ uri }) => uri);
      assert.ok(uris.includes(consoleUri(`/audit-log/${event.id}`)), uris.join());
    });

    test("finds nothing of another organisation, by name, ID or reference", async () => {
      const { ids, user, administrator } = other;
      const [event] = await listAuditEvents(running.service.database.query, other.organisation.id, 1);
      const texts = [user.id, administrator.email, "planted-beta", event?.id ?? ""];
      const foreign = [
        ...["applications", "pool", "manage", "scopes", "groups", "roles", "resources", "trusts"],
        ...["token-exchange", "client-authorities", "authorization-detail-types", "initial-access-tokens"],
      ].map((kind) => ids[kind]);
      for (const text of [...texts, ...foreign]) {
        const { groups, status } = await find(text ?? "");
        assert.equal(
          groups.flatMap(({ items }) => items).length,
          1,
          `${text}: only the audit log's own search`,
        );
        assert.equal(status, `No results for “${text}”.`);
      }
    });

    test("answers at most five records of a kind, however long the text is", async () => {
      const { groups } = await find("a".repeat(5_000));
      assert.ok(groups.every(({ items }) => items.length <= 5));
      assert.ok((await group("acme", "users")).length <= 5);
      assert.deepEqual(await group("a", "users"), [], "one letter is no search");
    });

    test("takes wildcards and markup for text", async () => {
      assert.deepEqual(await group("%%", "users"), []);
      assert.deepEqual(await group("__", "applications"), []);
      const page = await browser.get(`/search?q=${encodeURIComponent('"><b>x')}`);
      assert.doesNotMatch(page.body, /"><b>x/);
    });

    test("refuses a program without a session, and a standard user, as JSON", async () => {
      const stranger = await testBrowser().get(searchUri("web"), JSON_ONLY);
      assert.deepEqual([stranger.status, JSON.parse(stranger.body)], [401, { error: "login_required" }]);
      assert.equal(stranger.headers.get("cache-control"), "no-store");
      const standard = testBrowser();
      const start = `${running.baseUrl}/devices/manage/${org.organisation.id}`;
      await logIn(standard, org, await follow(standard, await standard.get(start)));
      const refused = await standard.get(searchUri("web"), JSON_ONLY);
      assert.deepEqual([refused.status, JSON.parse(refused.body)], [403, { error: "access_denied" }]);
      const foreign = await browser.browser.get(searchUri("web", other), JSON_ONLY);
      assert.equal(foreign.status, 401);
    });

    test("shows the same results as a page without scripts", async () => {
      const page = await browser.get("/search?q=planted-acme");
      assert.equal(page.status, 200);
      const [scope] = await group("planted-acme", "scopes");
      assert.ok(page.body.includes(`href="${scope?.uri}"`));
      assert.match(page.body, /id="search" name="q"[^>]* value="planted-acme"/);
      assert.match((await browser.get("")).body, /id="command-open" href="[^"]*\/search"/);
    });
  });
});

test("labels that begin with the words come first", () => {
  const items = ["Data keys", "Keys", "Users"].map((label) => ({ label, keywords: `/${label}` }));
  const labels = matchLabels(items, "key").map(({ label }) => label);
  assert.deepEqual(labels, ["Data keys", "Keys"]);
  assert.deepEqual(
    matchLabels(
      [
        { label: "Backup", keywords: "" },
        { label: "Up next", keywords: "" },
      ],
      "up",
    ).map(({ label }) => label),
    ["Up next", "Backup"],
  );
  assert.deepEqual(matchLabels(items, "key user"), []);
});
