import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { listAgentKeys } from "../../../core/signing-pools/agent-key.store.ts";
import { listAgents, recordAgentSeen } from "../../../core/signing-pools/signing-agent.store.ts";
import { countPools, findPool } from "../../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { makeAgent, makePool, newAgentKey, presentedKey } from "../../../testing/fixtures/agent.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  textOf,
} from "../../../testing/probes/console-browser.ts";
import { makeClient, startTestService, type TestService } from "../../../testing/test-service.ts";
import { MAX_POOLS } from "../admin-api/pools.ts";
import { insertRequest, NO_WAITER } from "../requests/create-request.store.ts";
import { listOpenRequests, waitingOfPools } from "./console.store.ts";

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
  const plantedPool = () => org.ids["pool"] ?? "";
  const newestEvent = async () => (await listAuditEvents(db(), orgId(), 1))[0];
  const poolOf = async (id: string) => {
    const pool = await findPool(db(), orgId(), id);
    assert.ok(pool);
    return pool;
  };
  /** What an agent prints for an administrator. */
  const printed = (pool: SigningPool, more: object = {}) => {
    const key = newAgentKey("ES256");
    const registration = {
      poolId: pool.id,
      name: "agent-7",
      keys: [presentedKey(running.service, pool, key)],
      ...more,
    };
    return { kid: key.kid, text: JSON.stringify(registration, null, 2) };
  };

  test("creates a pool from its form, with errors at their fields", async () => {
    const form = { name: " ", tokenWaitSeconds: "600", requireX5c: "on" };
    const wrong = await browser.send("/pools/new", form);
    assert.equal(wrong.status, 400);
    for (const field of ["name", "tokenWaitSeconds", "requireX5c"])
      assert.match(wrong.body, new RegExp(`id="${field}-fault"`), field);
    assert.match(
      wrong.body,
      /name="tokenWaitSeconds"[^>]*value="10"[\s\S]*?<option value="minutes" selected>/,
    );
    assert.match(wrong.body, /id="tokenWaitSeconds-fault">[^<]*from 1 second to 20 seconds/);
    const odd = await browser.send("/pools/new", { name: "HSM", maxTokenLifetimeSeconds: "soon" });
    assert.match(odd.body, /name="maxTokenLifetimeSeconds"[^>]*value="soon"/, "as it was typed");
    const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
    const roots = await browser.send("/pools/new", { name: "HSM", trustedRoots: pem });
    assert.match(roots.body, /id="trustedRoots-fault">Certificate 1 /);
    const made = await browser.send("/pools/new", {
      name: "HSM",
      issuerMode: "organisation",
      maxPending: "7",
      maxTokenLifetimeSeconds: "90",
      "maxTokenLifetimeSeconds-unit": "minutes",
      keyPublishDelaySeconds: "2",
      "keyPublishDelaySeconds-unit": "days",
    });
    const id = /pools\/([^?]+)\?done=created$/.exec(made.location ?? "")?.[1] ?? "";
    const { name, issuerMode, maxPending, createdBy, ...durations } = await poolOf(id);
    assert.deepEqual([name, issuerMode, maxPending], ["HSM", "organisation", 7]);
    assert.deepEqual([durations.maxTokenLifetimeSeconds, durations.keyPublishDelaySeconds], [5_400, 172_800]);
    const settings = await browser.get(`/pools/${id}/settings`);
    assert.match(
      settings.body,
      /name="maxTokenLifetimeSeconds"[^>]*value="90"[\s\S]*?<option value="minutes" selected>/,
    );
    assert.equal(createdBy, `user:${org.administrator.id}`);
    assert.match((await browser.get(`/pools/${id}`)).body, /No agents yet/);
  });

  test("changes settings, unless another administrator changed them meanwhile", async () => {
    const { id } = await makePool(running.service, org, { name: "Shared" });
    const page = await browser.get(`/pools/${id}/settings`);
    assert.match(
      (await browser.send(`/pools/${id}/settings`, { name: "Mine" })).location ?? "",
      /done=saved$/,
    );
    assert.equal((await newestEvent())?.action, "signing-pool.changed");
    const late = await browser.post(
      `/pools/${id}/settings`,
      formOfPage(page, { name: "Late", maxPending: "9", issuerMode: "organisation" }),
    );
    assert.equal(late.status, 409);
    assert.match(late.body, /id="name-now">Current value: Mine/);
    assert.match(late.body, /name="name"[^>]*value="Late"/);
    assert.doesNotMatch(late.body, /id="maxTokenLifetimeSeconds-now"/);
    const { name, maxPending, issuerMode } = await poolOf(id);
    assert.deepEqual([name, maxPending, issuerMode], ["Mine", 500, "pool"]);
  });

  test("registers an agent after the thumbprints are approved, and shows its API key once", async () => {
    const pool = await poolOf(plantedPool());
    const { kid, text } = printed(pool);
    const path = `/pools/${pool.id}/agents/new`;
    const first = formOfPage(await browser.get(path), { registration: text });
    const review = await browser.post(path, first);
    const again = await browser.post(path, first);
    assert.equal(review.status, 200);
    assert.ok(review.body.includes(kid));
    assert.equal((await listAgents(db(), orgId(), { poolId: pool.id, limit: 9 })).length, 1, "nothing yet");
    const done = await browser.post(path, formOfPage(review));
    assert.equal(done.status, 201);
    assert.match(textOf(done, "api-key") ?? "", /^sgn_ak_/);
    assert.match(done.body, /live-panel waiting" id="first-agent"[^>]*data-live="[^"]+\/waiting"/);
    const agents = await listAgents(db(), orgId(), { poolId: pool.id, limit: 9 });
    assert.deepEqual(agents.map(({ name }) => name).sort(), ["Agent", "agent-7"]);
    const twice = await browser.post(path, formOfPage(review));
    assert.equal(twice.status, 409);
    assert.match(twice.body, /already submitted/);
    assert.match(twice.body, /deactivate the agent/);
    assert.match((await browser.post(path, formOfPage(again))).body, /already submitted/, "the same form");
    const known = await browser.post(path, formOfPage(await browser.send(path, { registration: text })));
    assert.equal(known.status, 409);
    assert.match(known.body, /id="registration-fault">A key is already registered/);
  });

  test("rejects an invalid or foreign registration at its field", async () => {
    const pool = await poolOf(plantedPool());
    const elsewhere = await makePool(running.service, org);
    const faultOf = async (registration: string) => {
      const page = await browser.send(`/pools/${pool.id}/agents/new`, { registration });
      assert.equal(page.status, 400);
      return /id="registration-fault">([^<.]*)/.exec(page.body)?.[1];
    };
    assert.match((await faultOf("{}")) ?? "", /^This isn’t the agent’s output/);
    assert.match((await faultOf(printed(elsewhere).text)) ?? "", /^This output is for another pool/);
    const foreign = printed(elsewhere, { poolId: pool.id }).text;
    assert.match((await faultOf(foreign)) ?? "", /^The proof of possession is invalid/);
    const { keys } = JSON.parse(printed(pool).text) as { keys: { jwk: object }[] };
    const leaked = JSON.stringify({
      keys: keys.map((key) => ({ ...key, jwk: { ...key.jwk, d: "secret" } })),
    });
    assert.match((await faultOf(leaked)) ?? "", /^The output contains a private key/);
  });

  test("adds and retires keys and deactivates an agent; a compromise needs its typed name", async () => {
    const pool = await poolOf(plantedPool());
    const agentId = org.ids["agent"] ?? "";
    const own = `/pools/${pool.id}/agents/${agentId}`;
    const { kid, text } = printed(pool);
    const review = await browser.send(`${own}/keys`, { registration: text });
    assert.match((await browser.post(`${own}/keys`, formOfPage(review))).location ?? "", /done=keys$/);
    assert.match((await browser.get(own)).body, new RegExp(`id="retire-${kid}"`));
    assert.match((await browser.send(`${own}/keys/${kid}/retire`)).location ?? "", /done=retired$/);
    const retired = (await listAgentKeys(db(), orgId(), agentId)).find((key) => key.kid === kid);
    assert.equal(retired?.retiringAt, clock());
    assert.deepEqual((await newestEvent())?.action, "signing-agent.key-retired");
    assert.match((await browser.send(`${own}/deactivate`)).location ?? "", /done=deactivated$/);
    assert.equal((await browser.send(`${own}/compromise`, { name: "agent" })).status, 400);
    assert.match(
      (await browser.send(`${own}/compromise`, { name: "Agent" })).location ?? "",
      /done=compromised$/,
    );
    const { action, actor } = (await newestEvent()) ?? {};
    assert.deepEqual([action, actor], ["signing-agent.compromised", `user:${org.administrator.id}`]);
    assert.equal((await browser.get(`${own}/compromise`)).status, 303, "there is nothing to do any more");
  });

  test("disables and enables a pool; deletion needs its typed name and no applications", async () => {
    const { id } = await makePool(running.service, org, { name: "Old" });
    const client = { grantTypes: ["client_credentials"], allowedScopes: [], signingPoolId: id } as const;
    const { application } = await makeClient(running.service, org.organisation, client);
    assert.match((await browser.get(`/pools/${id}`)).body, new RegExp(`/applications/${application.id}`));
    await browser.send(`/pools/${id}/disable`);
    assert.notEqual((await poolOf(id)).disabledAt, null);
    await browser.send(`/pools/${id}/enable`);
    assert.equal((await poolOf(id)).disabledAt, null);
    assert.equal((await browser.send(`/pools/${id}/delete`, { name: "old" })).status, 400);
    assert.equal((await browser.send(`/pools/${id}/delete`, { name: "Old" })).status, 409, "in use");
    await db().deleteFrom("application").where("id", "=", application.id).execute();
    assert.match(
      (await browser.send(`/pools/${id}/delete`, { name: "Old" })).location ?? "",
      /pools\?done=deleted$/,
    );
    assert.equal(await findPool(db(), orgId(), id), undefined);
    assert.equal((await newestEvent())?.action, "signing-pool.deleted");
  });

  test("list and page show online agents, also in the reloaded parts", async () => {
    const pool = await makePool(running.service, org, { name: "Busy" });
    const { text } = printed(pool);
    const review = await browser.send(`/pools/${pool.id}/agents/new`, { registration: text });
    await browser.post(`/pools/${pool.id}/agents/new`, formOfPage(review));
    const [agent] = await listAgents(db(), orgId(), { poolId: pool.id, limit: 1 });
    const state = async (rest: string) =>
      new RegExp(
        `(?:pool-${pool.id}|agent-${agent?.id}|live-line)"[\\s\\S]*?class="state \\w+">([^<]*)`,
      ).exec((await browser.get(rest)).body)?.[1];
    const pieces = ["/pools", "/pools/live", `/pools/${pool.id}`, `/pools/${pool.id}/status`];
    const everywhere = async () => [
      ...new Set(await Promise.all(pieces.map(state))),
      await state(`/pools/${pool.id}/agents/live`),
    ];
    assert.deepEqual(await everywhere(), ["No agent online", "Never connected"]);
    await recordAgentSeen(db(), { orgId: orgId(), id: agent?.id ?? "", now: clock(), every: 0 });
    assert.deepEqual(await everywhere(), ["Online", "Online"]);
    assert.match((await browser.get("/pools/live")).body, /data-says="[^"]*Busy: Online\./);
    for (const page of ["/pools", `/pools/${pool.id}`, `/pools/${pool.id}/agents`])
      assert.match((await browser.get(page)).body, /id="live-status" role="status"/, page);
    clock.advance(2 * MINUTE);
    assert.deepEqual(await everywhere(), ["No agent online", "Offline"]);
  });

  test("the wizard tells how far a registration is, and a pool what it lacks until it signs", async () => {
    const pool = await makePool(running.service, org, { name: "Fresh" });
    const current = (body: string) => /<li [^>]*id="([\w-]+)" aria-current="step"/.exec(body)?.[1];
    const isDone = (body: string, id: string) => new RegExp(`<li class="good" id="${id}"`).test(body);
    const setup = async () => (await browser.get(`/pools/${pool.id}/setup`)).body;
    assert.equal(current((await browser.get("/pools/new")).body), "setup-pool");
    assert.equal(current((await browser.get(`/pools/${pool.id}`)).body), "setup-agent");
    assert.ok(isDone(await setup(), "setup-pool"));
    const isLink = async (id: string) => new RegExp(`id="${id}"[^>]*><a href=`).test(await setup());
    assert.ok(await isLink("setup-agent"));
    assert.equal(current(await setup()), "setup-agent");

    const path = `/pools/${pool.id}/agents/new`;
    assert.equal(current((await browser.get(path)).body), "progress-paste");
    const { text } = printed(pool);
    const review = await browser.send(path, { registration: text });
    assert.equal(current(review.body), "progress-approve");
    assert.ok(isDone(review.body, "progress-paste"));
    const done = await browser.post(path, formOfPage(review));
    assert.equal(current(done.body), "progress-connect");
    const [agent] = await listAgents(db(), orgId(), { poolId: pool.id, limit: 1 });
    const panel = `/pools/${pool.id}/agents/${agent?.id}/waiting`;
    assert.equal(current((await browser.get(panel)).body), "progress-connect");
    assert.equal(current(await setup()), "setup-online");
    assert.equal(await isLink("setup-agent"), false);

    await recordAgentSeen(db(), { orgId: orgId(), id: agent?.id ?? "", now: clock(), every: 0 });
    const connected = (await browser.get(panel)).body;
    assert.equal(current(connected), undefined);
    assert.ok(isDone(connected, "progress-connect"));
    assert.equal(current(await setup()), "setup-application");
    await makeClient(running.service, org.organisation, { signingPoolId: pool.id });
    assert.match(await setup(), /live-panel done" id="pool-setup"/);
    assert.doesNotMatch((await browser.get(`/pools/${pool.id}`)).body, /id="pool-setup"/, "no more");
    assert.equal((await browser.get(`/pools/${newUuid()}/setup`)).status, 404);
  });

  test("counts pending requests by pool, without final and expired ones", async () => {
    const pool = await makePool(running.service, org, { name: "Crowded" });
    const idle = await makePool(running.service, org, { name: "Idle" });
    const wait = async (more: object = {}) => {
      const id = newUuid();
      const { web } = org;
      const row = {
        org_id: orgId(),
        id,
        pool_id: pool.id,
        application_id: web.application.id,
        user_id: null,
        grant_type: "client_credentials",
        interactive: 1,
        parent_request_id: null,
        claims: "",
        browser_session_hash: null,
        continuation: null,
        join_key_hash: null,
        waiter: null,
        waiter_until: NO_WAITER,
        created_at: clock(),
        expires_at: clock() + MINUTE,
        ...more,
      };
      assert.ok(await insertRequest(db(), row, { agentsSince: 0 }));
      return id;
    };
    const agent = await makeAgent(running.service, org, pool, { name: "Rack <3>" });
    const set = async (state: "claimed" | "signed", endedAt: number | null) => {
      const id = await wait({ created_at: clock() - 1_000 });
      await db()
        .updateTable("signing_request")
        .set({ state, ended_at: endedAt, claimed_by: agent.agentId })
        .where("org_id", "=", orgId())
        .where("id", "=", id)
        .execute();
      return id;
    };
    const waiting = [await wait(), await wait()];
    await wait({ expires_at: clock() });
    const claimed = await set("claimed", null);
    await set("signed", clock());
    const { body } = await browser.get("/pools");
    const waitingIn = ({ id }: SigningPool) =>
      new RegExp(`id="pool-${id}"[\\s\\S]*?data-label="Waiting"><div>(\\d+)<`).exec(body)?.[1];
    assert.deepEqual([waitingIn(pool), waitingIn(idle)], ["2", "0"]);
    assert.match((await browser.get(`/pools/${pool.id}`)).body, /class="live-line">.*2 requests wait/);
    assert.equal((await waitingOfPools(db(), newUuid(), clock())).size, 0, "of another organisation");

    const requests = await browser.get(`/pools/${pool.id}/requests`);
    const listed = [...requests.body.matchAll(/<tr role="row" id="request-([^"]+)"/g)].map(([, id]) => id);
    assert.deepEqual(listed, [claimed, ...waiting.toSorted()], "open ones alone, the oldest first");
    const row = new RegExp(`id="request-${claimed}"[\\s\\S]*?</tr>`).exec(requests.body)?.[0] ?? "";
    assert.match(row, /With an agent/);
    assert.ok(row.includes(`/pools/${pool.id}/agents/${agent.agentId}"><bdi>Rack &lt;3&gt;`), "who has it");
    assert.match((await browser.get(`/pools/${idle.id}/requests`)).body, /No open requests/);
    const scope = { poolId: pool.id, now: clock(), limit: 9 };
    assert.deepEqual(await listOpenRequests(db(), { ...scope, orgId: newUuid() }), []);
    assert.equal((await listOpenRequests(db(), { ...scope, orgId: orgId(), limit: 2 })).length, 2);
  });

  test("enforces the pool limit and keeps the input", async () => {
    const many = await seedRecords(running.service, "Many");
    const there = await consoleBrowser(running, many);
    const form = formOfPage(await there.get("/pools/new"), { name: "One too many" });
    const planted = await countPools(db(), many.organisation.id);
    for (let made = planted; made < MAX_POOLS; made += 1) await makePool(running.service, many);
    const refused = await there.post("/pools/new", form);
    assert.equal(refused.status, 409);
    assert.match(refused.body, new RegExp(`id="form-notice"[\\s\\S]*${MAX_POOLS}`));
    assert.match(refused.body, /name="name"[^>]*value="One too many"/);
  });

  test("automatic reloads need a session but don't extend it", async () => {
    const lastSeen = async () => {
      const row = await db()
        .selectFrom("browser_session")
        .select("last_seen_at")
        .where("org_id", "=", orgId())
        .where("user_id", "=", org.administrator.id)
        .executeTakeFirstOrThrow();
      return row.last_seen_at;
    };
    const before = await lastSeen();
    clock.advance(5 * MINUTE);
    assert.equal((await browser.get("/pools/live")).status, 200);
    assert.equal(await lastSeen(), before);
    await browser.get("/pools");
    assert.equal(await lastSeen(), clock());
    const bare = await fetch(`${running.baseUrl}/oauth/manage/${orgId()}/pools/live`, { redirect: "manual" });
    assert.deepEqual([bare.status, await bare.text()], [403, ""]);
    assert.equal((await browser.get("/pools/00000000-0000-7000-8000-000000000000/live")).status, 404);
  });
});
