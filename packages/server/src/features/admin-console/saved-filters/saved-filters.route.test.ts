/** Saved filters of lists: the same on every list, read as the list's own page reads its address, of one organisation. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { listFilters } from "../../../core/saved-filters/saved-filters.store.ts";
import { MAX_FILTERS, saveFilter } from "../../../core/saved-filters/saved-filters.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

/** A filter of each list, at the address of its page. */
const lists: Readonly<Record<string, readonly [page: string, query: string]>> = {
  applications: ["/oauth/manage/ORG/applications", "search=web&state=enabled"],
  users: ["/oauth/manage/ORG/users", "search=ada&state=active&sort=email"],
  "system-accounts": ["/oauth/manage/ORG/system-accounts", "state=enabled"],
  scopes: ["/oauth/manage/ORG/scopes", "search=pay"],
  consents: ["/oauth/manage/ORG/consents", "state=revoked"],
  preauthorizations: ["/oauth/manage/ORG/preauthorizations", "search=web"],
  pools: ["/oauth/manage/ORG/pools", "state=away"],
  devices: ["/devices/manage/ORG", "state=active"],
  "device-codes": ["/devices/manage/ORG/codes", "search=till"],
  "audit-log": ["/oauth/manage/ORG/audit-log", "category=signIn"],
};

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  let here: ConsoleBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Beta");
    here = await consoleBrowser(running, org);
    await running.service.database.query.deleteFrom("audit_filter").execute();
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const db = () => running.service.database.query;
  const at = (page: string) => running.baseUrl + page.replace("ORG", org.organisation.id);
  const open = (page: string, query: string) => here.browser.get(`${at(page)}?${query}`);
  const newPath = (list: string, query: string) =>
    `/saved-filters/new?${new URLSearchParams({ list, query })}`;
  const chipOf = (name: string) => new RegExp(`<a class="chip"[^>]*><bdi>${name}</bdi>`);

  test("every list offers to save what it is narrowed to, shows it as a chip, and forgets it", async () => {
    for (const [list, [page, query]] of Object.entries(lists)) {
      const name = `Mine of ${list}`;
      const { body } = await open(page, `${query}&size=50`);
      const [, offered = ""] = /id="filter-save" href="[^"]*(\/saved-filters\/new[^"]*)"/.exec(body) ?? [];
      const asked = offered.replaceAll("&amp;", "&");
      assert.equal(asked, newPath(list, query), `${list}: without the length of a page`);
      const saved = await here.send(asked, { name });
      assert.equal(saved.status, 303, list);
      assert.ok(
        saved.location?.endsWith(`${page.replace("ORG", org.organisation.id)}?${query}&done=filter-saved`),
        `${list}: ${saved.location}`,
      );
      const shown = await open(page, query);
      assert.match(shown.body, new RegExp(`aria-current="true"><bdi>${name}</bdi>`), list);
      assert.doesNotMatch(shown.body, /id="filter-save"/, list);
      const all = await here.browser.get(at(page));
      assert.match(all.body, chipOf(name), `${list}: also where nothing is narrowed`);
      assert.equal(all.body.match(/class="chip"/g)?.length, 1, `${list}: no filter of another list`);
    }
    for (const [list, [page, query]] of Object.entries(lists)) {
      const { body } = await open(page, query);
      const [, remove = ""] = /id="filter-delete" href="[^"]*(\/saved-filters\/[^"]*)"/.exec(body) ?? [];
      assert.equal((await here.send(remove)).status, 303, list);
      assert.doesNotMatch((await here.browser.get(at(page))).body, /class="chip"/, list);
    }
    assert.deepEqual(await listFilters(db(), org.organisation.id), []);
  });

  test("what is saved is what the list's own page reads, whatever was sent", async () => {
    const sent = "state=nonsense&search=%20ada%20&sort=-nothing&after=x&evil=%3Cscript%3E&size=100";
    const page = await here.get(newPath("users", sent));
    assert.doesNotMatch(page.body, /evil|nonsense/);
    const form = formOfPage(page, { name: "Ada", query: `${sent}&done=saved` });
    assert.match(
      (await here.post("/saved-filters/new", form)).location ?? "",
      /\/users\?search=ada&done=filter-saved$/,
    );
    const [filter] = await listFilters(db(), org.organisation.id, "users");
    assert.deepEqual([filter?.name, filter?.query], ["Ada", "search=ada"]);
  });

  test("a list that isn't there is refused, and an address without one is the audit log's", async () => {
    for (const list of ["nothing", "__proto__", "constructor"])
      assert.equal((await here.get(newPath(list, ""))).status, 404, list);
    const page = await here.get("/saved-filters/new");
    assert.equal(page.status, 200);
    assert.equal((await here.post("/saved-filters/new", formOfPage(page, { list: "nothing" }))).status, 404);
  });

  test("a name is asked for, and a list has a limited number of filters", async () => {
    const path = newPath("scopes", "search=a");
    for (const name of ["", "x".repeat(61)]) {
      const wrong = await here.send(path, { name });
      assert.equal(wrong.status, 400);
      assert.match(wrong.body, /id="name-fault"/);
    }
    const filter = { orgId: org.organisation.id, list: "scopes", name: "One", query: "search=b" };
    for (let at = 0; at < MAX_FILTERS; at++) await saveFilter(running.service, filter);
    const full = await here.send(path, { name: "One more" });
    assert.equal(full.status, 409);
    assert.match(full.body, /No more filters can be saved/);
    assert.equal((await here.send(newPath("pools", "search=a"), { name: "Elsewhere" })).status, 303);
  });

  test("another organisation's filters are not found, and a user who is no administrator has none", async () => {
    const filter = { orgId: other.organisation.id, list: "users", name: "Secret", query: "search=beta" };
    await saveFilter(running.service, filter);
    const [theirs] = await listFilters(db(), other.organisation.id);
    assert.doesNotMatch((await here.get("/users")).body, /Secret/);
    const remove = `/saved-filters/${theirs?.id}/delete`;
    assert.equal((await here.get(remove)).status, 404);
    assert.equal((await here.get(`/saved-filters/${newUuid()}/delete`)).status, 404);
    const form = formOfPage(await here.get("/saved-filters/new"));
    assert.equal((await here.post(remove, form)).status, 404);
    assert.equal((await listFilters(db(), other.organisation.id)).length, 1);
    const standard = await consoleBrowser(running, { ...org, administrator: org.user });
    assert.equal((await standard.get(newPath("users", "search=a"))).status, 403);
  });
});
