// The ledger from the signature to the proof: what is recorded, and who reads it.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { parseBundle, parseEntry, type SignatureEntry } from "@signet/protocol/ledger/entry";
import { leafHash } from "@signet/protocol/ledger/merkle";
import { sql } from "kysely";
import { chainOrganisation } from "../../core/audit/chain/chaining.ts";
import { deactivateAgentRow } from "../../core/signing-pools/signing-agent.store.ts";
import { ask } from "../../testing/ask.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { makeAgent, makePool } from "../../testing/fixtures/agent.ts";
import { tokenFor } from "../../testing/fixtures/api-client.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { type LedgerHarness, ledgerHarness } from "../../testing/fixtures/ledger-harness.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let ledger: LedgerHarness;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });
  beforeEach(async () => {
    org = await makeOrganisation(running.service);
    ledger = ledgerHarness(running, org);
  });

  const orgId = () => org.organisation.id;
  const entries = async (): Promise<SignatureEntry[]> => {
    const { size } = await ledger.checkpoint();
    const suffix = size >= 256 ? "" : `.p/${size}`;
    const bundle = parseBundle(await ledger.getBytes(`/tile/entries/000${suffix}`)) ?? [];
    return bundle.flatMap((bytes) => {
      const entry = parseEntry(bytes.toString());
      assert.ok(entry, bytes.toString());
      return "sha256" in entry ? [entry] : [];
    });
  };
  test("every token of every grant is a leaf once it was handed out", async () => {
    await ledger.set({ ledger: "public" });
    const batch = await tokenFor(org, org.batch);
    const { accessToken, idToken, refreshToken } = await codeSource(org).tokens({
      scope: "openid offline_access",
    });
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, ...credentials(org.web) };
    const refreshed = await postForm(`${org.issuer}/token`, form);
    assert.equal(refreshed.status, 200);
    const tokens = [batch, accessToken, idToken, String(refreshed.body["access_token"])];
    assert.equal((await ledger.get("/checkpoint")).status, 404, "nothing is signed before the first round");
    assert.ok((await ledger.grow()) >= 5);
    for (const token of tokens) {
      const { entry } = await ledger.prove(token);
      assert.equal(entry.signer, "local");
      assert.equal(entry.kind, token === idToken ? "id_token" : "access_token");
    }
    assert.equal(await ledger.grow(), 0, "nothing is appended twice");
  });

  test("an entry names a key and no person", async () => {
    await ledger.set({ ledger: "public" });
    const { accessToken } = await codeSource(org).tokens();
    await ledger.grow();
    const { entry } = await ledger.prove(accessToken);
    assert.deepEqual(Object.keys(entry), ["v", "kind", "sha256", "kid", "time", "signer", "approvals"]);
  });

  test("a pool's tokens are leaves that name the pool", async () => {
    await ledger.set({ ledger: "public" });
    const pool = await makePool(running.service, org);
    const agent = await makeAgent(running.service, org, pool);
    const client = await makeClient(running.service, org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["jobs:run"], signingPoolId: pool.id },
    });
    await agent.call("queue");
    const serving = agent.serve();
    const token = await tokenFor(org, client).finally(() => serving.stop());
    await ledger.grow();
    const { entry } = await ledger.prove(token);
    assert.equal(entry.signer, `pool:${pool.id}`);
    assert.equal(entry.kid, agent.keys[0]?.kid);
  });

  test("a token is not handed out when its entry cannot be written", async () => {
    await ledger.set({ ledger: "public" });
    const { query } = running.service.database;
    await sql`alter table ledger_batch rename to ledger_batch_elsewhere`.execute(query);
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    const refused = await postForm(`${org.issuer}/token`, form);
    await sql`alter table ledger_batch_elsewhere rename to ledger_batch`.execute(query);
    assert.equal(refused.status, 500);
    assert.equal(refused.body["access_token"], undefined);
    assert.match(String(running.errors.splice(0)), /ledger_batch/);
    await tokenFor(org, org.batch);
    assert.ok((await ledger.grow()) > 0);
  });

  test("three hundred tokens at once: tiles and bundles are those of the checkpoint, and never change", async () => {
    await ledger.set({ ledger: "public" });
    const tokens = await Promise.all(Array.from({ length: 300 }, () => tokenFor(org, org.batch)));
    await ledger.grow();
    const { size, root } = await ledger.checkpoint();
    assert.ok(size >= 300);
    const full = await ledger.getBytes("/tile/0/000");
    assert.equal(full.length, 8_192);
    assert.equal((await ledger.getBytes(`/tile/0/001.p/${size - 256}`)).length, (size - 256) * 32);
    assert.equal((await ledger.getBytes("/tile/1/000.p/1")).length, 32);
    const bundle = parseBundle(await ledger.getBytes("/tile/entries/000"));
    assert.deepEqual(Buffer.concat(bundle?.map(leafHash) ?? []), full);
    for (const path of [
      "/tile/0/001",
      `/tile/0/001.p/${size - 255}`,
      "/tile/1/001",
      "/tile/2/000",
      "/tile/0/0",
    ])
      assert.equal((await ledger.get(path)).status, 404, path);
    const { headers } = await ledger.get("/tile/0/000");
    assert.match(headers.get("cache-control") ?? "", /^public, max-age=31536000, immutable$/);
    for (const token of [tokens[0], tokens[150], tokens[299]]) await ledger.prove(token ?? "");
    await tokenFor(org, org.batch);
    await ledger.grow();
    assert.ok((await ledger.checkpoint()).size > size);
    assert.deepEqual(await ledger.getBytes("/tile/0/000"), full);
    assert.notDeepEqual((await ledger.checkpoint()).root, root);
  });

  test("off by default: nothing is recorded, and nothing is shown", async () => {
    await tokenFor(org, org.batch);
    assert.equal(await ledger.grow(), 0);
    for (const path of ["/checkpoint", "/key", "/tile/0/000", `/proof?sha256=${"0".repeat(64)}`])
      assert.equal((await ledger.get(path)).status, 404, path);
    await ledger.set({ ledger: "public" });
    await tokenFor(org, org.batch);
    await ledger.grow();
    await ledger.checkpoint();
    await ledger.set({ ledger: "off" });
    assert.equal((await ledger.get("/checkpoint")).status, 404, "what there was is hidden again");
  });

  test("a ledger for members wants a token of this organisation", async () => {
    await ledger.set({ ledger: "members" });
    const token = await tokenFor(org, org.batch);
    await ledger.grow();
    const bare = await ledger.get("/checkpoint");
    assert.equal(bare.status, 401);
    assert.match(bare.headers.get("www-authenticate") ?? "", /^Bearer/);
    const { status, headers } = await ledger.get("/checkpoint", token);
    assert.equal(status, 200);
    assert.equal(headers.get("cache-control"), "private, max-age=1");
    assert.equal(headers.get("access-control-allow-origin"), null);
    const other = await makeOrganisation(running.service, "Other");
    for (const wrong of [await tokenFor(other, other.batch), `${token}x`, "x"])
      assert.equal((await ledger.get("/tile/0/000.p/1", wrong)).status, 401);
    const form = { token, ...credentials(org.batch) };
    assert.equal((await postForm(`${org.issuer}/revoke`, form)).status, 200);
    assert.equal((await ledger.get("/checkpoint", token)).status, 401, "revoked");
  });

  test("a ledger for members is read by the organisation's agents, while they are active", async () => {
    await ledger.set({ ledger: "members" });
    await tokenFor(org, org.batch);
    await ledger.grow();
    const pool = await makePool(running.service, org);
    const { apiKey, agentId } = await makeAgent(running.service, org, pool);
    assert.equal((await ledger.get("/checkpoint", apiKey)).status, 200);
    assert.equal((await ledger.get("/tile/0/000.p/1", apiKey)).status, 200);
    const other = await makeOrganisation(running.service, "Other");
    const foreign = await makeAgent(running.service, other, await makePool(running.service, other));
    assert.equal((await ledger.get("/checkpoint", foreign.apiKey)).status, 401, "another organisation's");
    const { query } = running.service.database;
    await deactivateAgentRow(query, { orgId: orgId(), id: agentId, now: clock() });
    const gone = await ledger.get("/checkpoint", apiKey);
    assert.equal(gone.status, 401, "deactivated");
    assert.match(gone.headers.get("www-authenticate") ?? "", /invalid_token/);
    let last = gone;
    for (let guess = 0; guess < 200 && last.status === 401; guess++)
      last = await ledger.get("/checkpoint", `sgn_ak_${guess}`);
    assert.equal(last.status, 429, "guesses are counted");
    assert.ok(Number(last.headers.get("retry-after")) > 0);
    clock.advance(3_600_000);
  });

  test("what is asked badly is refused by name", async () => {
    await ledger.set({ ledger: "public" });
    for (const query of [
      "",
      "?sha256=",
      "?sha256=x",
      `?sha256=${"0".repeat(63)}`,
      "?sha256=a&sha256=b",
      "?x=1",
    ]) {
      const { status, text } = await ledger.get(`/proof${query}`);
      assert.equal(status, 400, query);
      assert.match(text, /urn:signet:error:malformed/);
    }
    const unknown = await ledger.get(`/proof?sha256=${"0".repeat(64)}`);
    assert.equal(unknown.status, 404);
    assert.match(unknown.text, /urn:signet:error:not-logged/);
    assert.equal(unknown.headers.get("retry-after"), "10");
    const { id } = org.organisation;
    for (const path of [`/ledger/${id}/tile/0/000.p/0`, `/ledger/${id}/tile/..%2f`, "/ledger/x/checkpoint"])
      assert.equal((await ask(`${running.baseUrl}${path}`, { method: "GET" })).status, 404, path);
  });

  test("the head of the audit chain is a leaf", async () => {
    await ledger.set({ ledger: "public" });
    await chainOrganisation({ ...running.service, key: running.service.chainKey }, orgId());
    await tokenFor(org, org.batch);
    await ledger.grow();
    const { size } = await ledger.checkpoint();
    const bundle = parseBundle(await ledger.getBytes(`/tile/entries/000.p/${size}`)) ?? [];
    const heads = bundle
      .map((bytes) => parseEntry(bytes.toString()))
      .filter((one) => one?.kind === "audit_head");
    assert.equal(heads.length, 1);
    const [stored] = await running.service.database.query
      .selectFrom("audit_chain")
      .select(["seq", "hash"])
      .where("org_id", "=", orgId())
      .execute();
    assert.ok(heads[0] && "seq" in heads[0]);
    assert.deepEqual([heads[0].seq, heads[0].hash], [stored?.seq, stored?.hash]);
  });

  test("two writers at once append each entry once", async () => {
    await ledger.set({ ledger: "public" });
    await Promise.all(Array.from({ length: 40 }, () => tokenFor(org, org.batch)));
    const [one, other] = [ledger.worker(), ledger.worker()];
    const counts = await Promise.all([one.round(), other.round(), one.round(), other.round()]);
    const { size } = await ledger.checkpoint();
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      size,
    );
    const hashes = (await entries()).map(({ sha256 }) => sha256);
    assert.equal(new Set(hashes).size, hashes.length);
    assert.equal(hashes.length, 40);
    await Promise.all([one.stop(), other.stop()]);
  });
});
