import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { PUBLISH_AHEAD_MS } from "../../../core/signing-keys/signing-key.ts";
import { listSigningKeys } from "../../../core/signing-keys/signing-keys.store.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { type ConsoleBrowser, consoleBrowser, textOf } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

let running: TestService;
let org: SeededRecords;
let clock: FakeClock;
let browser: ConsoleBrowser;
before(async () => {
  clock = fakeClock();
  running = await startTestService({ databaseUrl: "sqlite::memory:", clock });
  org = await seedRecords(running.service, "Acme");
  browser = await consoleBrowser(running, org);
});
after(async () => {
  await running.close();
  assert.deepEqual(running.errors, []);
});

const orgId = () => org.organisation.id;
const keysOf = async (alg: string) =>
  (await listSigningKeys(running.service.database.query, orgId())).filter((key) => key.alg === alg);
const statesOf = (body: string) =>
  [
    ...body.matchAll(
      /<tr role="row" id="key-[^"]*">[\s\S]*?item-name"><bdi>([^<]*)[\s\S]*?class="state \w+">([^<]*)/g,
    ),
  ].map(([, alg, state]) => `${alg} ${state}`);
const newestEvent = async () => (await listAuditEvents(running.service.database.query, orgId(), 1))[0];

test("lists signing keys with their status, creates missing ones, and shows the JWKS URI", async () => {
  const page = await browser.get("/signing-keys");
  assert.deepEqual(statesOf(page.body).sort(), ["ES256 Active", "RS256 Active"]);
  assert.equal(textOf(page, "jwks-uri"), `${org.issuer}/.well-known/jwks.json`);
});

test("rotates once after confirmation, also for a duplicate submission", async () => {
  const page = await browser.get("/signing-keys/ES256/rotate");
  const sent = await browser.send("/signing-keys/ES256/rotate");
  assert.equal(sent.location, `${running.baseUrl}/oauth/manage/${orgId()}/signing-keys?done=rotated`);
  const next = (await keysOf("ES256")).find(({ retireAt }) => retireAt === null);
  assert.equal(next?.activeFrom, clock() + PUBLISH_AHEAD_MS);
  const { actor, address, action } = (await newestEvent()) ?? {};
  assert.deepEqual(
    [actor, address, action],
    [`user:${org.administrator.id}`, "127.0.0.1", "signing-key.rotated"],
  );
  const again = await browser.post("/signing-keys/ES256/rotate", page.hidden);
  assert.equal(again.status, 409);
  assert.equal((await keysOf("ES256")).length, 2);
  const after = await browser.get("/signing-keys?done=rotated");
  assert.deepEqual(statesOf(after.body), ["ES256 Next", "ES256 Active", "RS256 Active"]);
  assert.match(after.body, /id="done-notice"/);
  assert.match(
    after.body,
    /id="last-change">Last changed by AdaAcme Admin|id="last-change">Last changed by [^<]*admin@acme/,
  );
});

test("revokes compromised keys immediately, after typing the organisation's name", async () => {
  const before = await keysOf("RS256");
  const wrong = await browser.send("/signing-keys/RS256/revoke", { name: "Other" });
  assert.equal(wrong.status, 400);
  assert.deepEqual(await keysOf("RS256"), before);
  const done = await browser.send("/signing-keys/RS256/revoke", { name: "Acme" });
  assert.match(done.location ?? "", /done=revoked$/);
  const jwks = (await (await fetch(`${org.issuer}/.well-known/jwks.json`)).json()) as {
    keys: { kid: string }[];
  };
  const kids = jwks.keys.map(({ kid }) => kid);
  assert.ok(!kids.includes(before[0]?.kid ?? ""));
  const successor = (await keysOf("RS256")).find(({ retireAt }) => retireAt === null);
  assert.ok(kids.includes(successor?.kid ?? ""));
});

test("answers 404 for an algorithm without a key", async () => {
  for (const alg of ["PS256", "none", "..%2F"])
    assert.equal((await browser.get(`/signing-keys/${alg}/rotate`)).status, 404, alg);
});

test("rotates the device CA once for each confirmation page", async () => {
  const page = await browser.get("/signing-keys/device-ca/rotate");
  assert.match((await browser.send("/signing-keys/device-ca/rotate")).location ?? "", /done=ca-rotated$/);
  assert.equal((await browser.post("/signing-keys/device-ca/rotate", page.hidden)).status, 409);
  const generations = await running.service.deviceCa.generations(orgId());
  assert.deepEqual(
    generations.map(({ generation }) => generation),
    [2, 1],
  );
  const { actor, action } = (await newestEvent()) ?? {};
  assert.deepEqual([actor, action], [`user:${org.administrator.id}`, "device-ca.rotated"]);
  assert.match((await browser.get("/signing-keys")).body, /id="generation-2"[\s\S]*id="generation-1"/);
});
