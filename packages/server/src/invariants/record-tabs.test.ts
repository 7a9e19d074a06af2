// The pages of every kind of record: tabs as plain links, of which exactly one is the current one, at addresses below the record's.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type SeededRecords, seedRecords } from "../testing/fixtures/planted-records.ts";
import { consoleBrowser } from "../testing/probes/console-browser.ts";
import { recordAddress } from "../testing/probes/record-address.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";

/** By the address of each record: its tabs, the first of which has that address. */
const records: Readonly<Record<string, readonly string[]>> = {
  "/oauth/manage/:org/applications/:id": [
    "general",
    "urls",
    "credentials",
    "tokens",
    "access",
    "roles",
    "advanced",
  ],
  "/oauth/manage/:org/users/:id": ["overview", "security", "access", "activity", "advanced"],
  "/oauth/manage/:org/system-accounts/:id": ["general", "keys", "activity", "settings"],
  "/oauth/manage/:org/scopes/:id": ["general", "applications", "activity"],
  "/oauth/manage/:org/groups/:id": ["general", "members", "roles", "access", "activity"],
  "/oauth/manage/:org/roles/:id": ["general", "assignments", "activity"],
  "/oauth/manage/:org/connections/:id": ["general", "tokens", "calls", "activity", "settings"],
  "/oauth/manage/:org/domains/:id": ["general", "activity", "settings"],
  "/oauth/manage/:org/webhooks/:id": ["general", "deliveries", "secret", "activity", "settings"],
  "/oauth/manage/:org/resources/:id": ["general", "activity", "settings"],
  "/oauth/manage/:org/trusts/:id": ["general", "activity", "settings"],
  "/oauth/manage/:org/client-authorities/:id": ["general", "activity", "settings"],
  "/oauth/manage/:org/initial-access-tokens/:id": ["general", "activity", "settings"],
  "/oauth/manage/:org/authorization-detail-types/:id": ["general", "activity", "settings"],
  "/oauth/manage/:org/token-exchange/:id": ["general", "activity", "settings"],
  "/oauth/manage/:org/pools/:pool": ["overview", "agents", "requests", "settings"],
  "/oauth/manage/:org/pools/:pool/agents/:agent": ["overview", "activity"],
  "/devices/manage/:org/:id": ["overview", "activity", "certificates"],
};

let running: TestService;
let org: SeededRecords;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:" });
  org = await seedRecords(running.service, "Acme");
});
after(async () => {
  await running.close();
  assert.deepEqual(running.errors, []);
});

const tabsOf = (body: string) => {
  const [, list = ""] = /<nav class="tabs"[^>]*><ul>([\s\S]*?)<\/ul>/.exec(body) ?? [];
  return [...list.matchAll(/<a id="tab-(\w+)" href="([^"]+)"( aria-current="page")?>/g)].map(
    ([, name = "", href = "", current]) => ({ name, href, isCurrent: current !== undefined }),
  );
};

for (const [path, names] of Object.entries(records)) {
  test(`${path} has tabs`, async () => {
    const { browser } = await consoleBrowser(running, org);
    const own = recordAddress(path, org.organisation.id, org.ids) ?? "";
    const first = await browser.get(running.baseUrl + own);
    assert.equal(first.status, 200);
    const tabs = tabsOf(first.body);
    assert.deepEqual(
      tabs.map(({ name }) => name),
      names,
    );
    assert.equal(tabs[0]?.href, own, "the first one has the record's own address");
    const titles = new Set<string | undefined>();
    for (const { name, href } of tabs) {
      const page = await browser.get(running.baseUrl + href);
      assert.equal(page.status, 200, name);
      const current = tabsOf(page.body).filter(({ isCurrent }) => isCurrent);
      assert.deepEqual(current, [{ name, href, isCurrent: true }]);
      assert.match(page.body, /id="more-open"/, `${name}: the record's head stands above each`);
      titles.add(/<title>([^<]*)/.exec(page.body)?.[1]);
    }
    assert.equal(titles.size, tabs.length, "browser tabs can be told apart");
  });
}
