/** The agents of a pool as a list of its page: searched, sorted, paged, acted on, and never those of another pool. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { listAgentKeys } from "../../../core/signing-pools/agent-key.store.ts";
import {
  deactivateAgentRow,
  findAgent,
  recordAgentSeen,
} from "../../../core/signing-pools/signing-agent.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { makeAgent, makePool } from "../../../testing/fixtures/agent.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

const MINUTE = 60_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let clock: FakeClock;
  let browser: ConsoleBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await seedRecords(running.service, "Acme");
    browser = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const orgId = () => org.organisation.id;
  const db = () => running.service.database.query;
  /** Agents of a page, in its order. */
  const agentsOn = ({ body }: { body: string }) =>
    [...body.matchAll(/id="agent-[0-9a-f-]{36}">[\s\S]*?<bdi>([^<]+)<\/bdi>/g)].map(([, name]) => name);

  test("a pool's agents are searched, narrowed, sorted, paged and saved as a file, in the pool alone", async () => {
    const pool = await makePool(running.service, org, { name: "Many" });
    const other = await makePool(running.service, org, { name: "Other" });
    const stranger = await makeAgent(running.service, org, other, { name: "Elsewhere" });
    const ids = new Map<string, string>();
    for (const name of ["delta", "Alpha", "charlie", "bravo"])
      ids.set(name, (await makeAgent(running.service, org, pool, { name })).agentId);
    const idOf = (name: string) => ids.get(name) ?? "";
    const seen = { orgId: orgId(), every: 0 };
    await recordAgentSeen(db(), { ...seen, id: idOf("charlie"), now: clock() });
    await recordAgentSeen(db(), { ...seen, id: idOf("bravo"), now: clock() - 10 * MINUTE });
    await deactivateAgentRow(db(), { orgId: orgId(), id: idOf("delta"), now: clock() });
    const path = `/pools/${pool.id}/agents`;
    const shown = async (query: string) => agentsOn(await browser.get(`${path}${query}`));
    assert.deepEqual(await shown(""), ["Alpha", "charlie", "bravo", "delta"], "active ones first");
    assert.deepEqual(await shown("?sort=name"), ["Alpha", "bravo", "charlie", "delta"]);
    assert.deepEqual(await shown("?sort=-name"), ["delta", "charlie", "bravo", "Alpha"]);
    assert.deepEqual((await shown("?sort=-seen")).slice(0, 2), ["charlie", "bravo"]);
    for (const [state, names] of Object.entries({
      live: ["charlie"],
      away: ["bravo"],
      new: ["Alpha"],
      deactivated: ["delta"],
      compromised: [],
    }))
      assert.deepEqual(await shown(`?state=${state}`), names, state);
    assert.deepEqual(await shown("?search=ALPH"), ["Alpha"]);
    assert.deepEqual(await shown(`?search=${idOf("bravo")}`), ["bravo"]);
    assert.deepEqual(await shown(`?search=${stranger.agentId}`), [], "of another pool");
    const file = await browser.get(`${path}/export?state=away`);
    assert.match(file.body, /^id,name,status,/);
    assert.deepEqual(
      file.body
        .trimEnd()
        .split("\r\n")
        .slice(1)
        .map((line) => line.split(",").slice(0, 3)),
      [[idOf("bravo"), "bravo", "away"]],
    );
    for (let count = 0; count < 23; count++)
      await makeAgent(running.service, org, pool, { name: `more-${String(count).padStart(2, "0")}` });
    const first = await browser.get(`${path}?sort=name`);
    assert.match(first.body, /id="page-range">1–25 of 27/);
    const wide = await browser.get(`${path}?sort=name&range=30d`);
    assert.match(
      wide.body,
      /id="range-90d" href="[^"]*\/agents\?sort=name&amp;range=90d"/,
      "as it is sorted",
    );
    assert.match(wide.body, /id="page-older" href="[^"]*range=30d/, "and over the same time");
    const [, next = ""] = /id="page-older" href="([^"]+)"/.exec(first.body) ?? [];
    const query = next.replaceAll("&amp;", "&").slice(next.indexOf("?"));
    assert.deepEqual(await shown(query), ["more-21", "more-22"]);
    const live = await browser.get(`${path}/live${query}`);
    assert.deepEqual(agentsOn(live), ["more-21", "more-22"], "the page that is kept up to date");
    assert.equal((await browser.get(`/pools/${pool.id}/status`)).body.match(/of 26 online/)?.length, 1);
    for (const rest of ["/agents", "/agents/export", "/agents/live", "/status", "/requests", "/settings"])
      assert.equal((await browser.get(`/pools/${newUuid()}${rest}`)).status, 404, rest);
  });

  test("ticked agents are deactivated or reported, those of another pool are not", async () => {
    const pool = await makePool(running.service, org, { name: "Ticked" });
    const other = await makePool(running.service, org, { name: "Not this one" });
    const names = ["one", "two", "three"];
    const made = await Promise.all(names.map((name) => makeAgent(running.service, org, pool, { name })));
    const elsewhere = await makeAgent(running.service, org, other, { name: "Elsewhere" });
    const path = `/pools/${pool.id}/agents`;
    const act = async (name: string, ids: readonly string[], more: Record<string, string> = {}) => {
      const form = formOfPage(await browser.get(path), { act: name });
      for (const id of ids) form.append("selected", id);
      const asked = await browser.post(`${path}/bulk`, form);
      assert.ok(!asked.body.includes("Elsewhere"), "nothing of another pool");
      return browser.post(`${path}/bulk`, formOfPage(asked, more));
    };
    const stateOf = async (id: string) => {
      const agent = await findAgent(db(), orgId(), id);
      return [agent?.deactivatedAt !== null, agent?.compromisedAt !== null];
    };
    const [one = "", two = "", three = ""] = made.map(({ agentId }) => agentId);
    assert.match((await act("deactivate", [one, two, elsewhere.agentId])).body, /2 done/);
    assert.deepEqual(await stateOf(one), [true, false]);
    assert.deepEqual(await stateOf(elsewhere.agentId), [false, false]);
    const wrong = await act("compromise", [two, three], { name: "Ticked" });
    assert.equal(wrong.status, 400, "the organisation's name");
    assert.deepEqual(await stateOf(three), [false, false]);
    assert.match((await act("compromise", [two, three], { name: org.organisation.name })).body, /2 done/);
    assert.deepEqual(
      [await stateOf(two), await stateOf(three)],
      [
        [true, true],
        [true, true],
      ],
    );
    const keys = await listAgentKeys(db(), orgId(), three);
    assert.ok(keys.every(({ compromisedAt }) => compromisedAt !== null));
    const { body } = await browser.get(path);
    assert.deepEqual(
      [...body.matchAll(/name="selected" value="([^"]+)"/g)].map(([, id]) => id),
      [one],
      "what was reported can't be ticked",
    );
  });
});
