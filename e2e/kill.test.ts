/**
 * kill -9 at random points under refresh load (quality.md, "Endurance"): no token that a client was given is lost, none
 * is accepted twice, nobody is signed out. SIGNET_TEST_SEED repeats the points of an earlier run, SIGNET_TEST_WHOLE=1
 * kills more often.
 */
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sha256Base64url } from "../packages/protocol/src/hash.ts";
import { type Database, openDatabase } from "../packages/server/src/db/open.ts";
import { forEachDatabase } from "../packages/server/src/testing/databases.ts";
import { type TestBrowser, testBrowser } from "../packages/server/src/testing/fakes/browser.ts";
import {
  type Chain,
  type ChainClient,
  firstToken,
  presentToken,
  redirectUri,
  refreshChain,
  refreshUntilGone,
} from "./support/refresh-chain.ts";
import { type ServerOptions, type ServerProcess, startServer } from "./support/server-process.ts";
import { signet } from "./support/signet-command.ts";

const kills =
  process.env["SIGNET_TEST_WHOLE"] === "1" ? { sqlite: 20, postgres: 10 } : { sqlite: 2, postgres: 2 };
const chainsPerClient = 4;
const longestLoadMs = 200;
const seed = Number(process.env["SIGNET_TEST_SEED"] ?? randomInt(2 ** 31));

forEachDatabase(({ name, fresh }) => {
  test(`${kills[name]} kills: no acknowledged token lost, none accepted twice, nobody signed out`, async (t) => {
    t.diagnostic(`SIGNET_TEST_SEED=${seed}`);
    const fixture = await setUpFixture(t, name === "postgres" ? await fresh() : undefined);
    const random = randomNumbers(seed);
    let server = fixture.server;
    for (let kill = 0; kill < kills[name]; kill += 1) {
      const load = Promise.all(fixture.chains.map(refreshUntilGone));
      await Promise.race([load, delay(random() * longestLoadMs)]);
      await server.kill();
      await load;
      server = await fixture.restart();
      await Promise.all(fixture.chains.map((chain) => goOn(fixture, chain)));
      await replayOne(fixture, fixture.chains[kill % fixture.chains.length]);
    }
    await server.stop();
    const { inFlight, lostAnswers, replays, chains } = fixture;
    const refreshes = chains.reduce((sum, chain) => sum + chain.refreshes, 0);
    t.diagnostic(`${refreshes} refreshes answered, ${inFlight} in flight at a kill`);
    t.diagnostic(`without a grace window ${lostAnswers} of them were told that theirs had been used`);
    assert.ok(inFlight > kills[name] / 2, "the kills came under load");
    // The service itself knows these refusals as replays, and no other.
    assert.equal(await countReplays(fixture.databaseUrl), replays + lostAnswers);
  });
});

type Fixture = {
  databaseUrl: string;
  browser: TestBrowser;
  chains: Chain[];
  server: ServerProcess;
  restart(): Promise<ServerProcess>;
  inFlight: number;
  lostAnswers: number;
  replays: number;
};

/** A server with a person signed in, and clients with and without a grace window that have a token family each. */
async function setUpFixture(t: TestContext, givenUrl: string | undefined): Promise<Fixture> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), "signet-kill-"));
  const databaseUrl = givenUrl ?? `sqlite:${path.join(dataDir, "signet.db")}`;
  // Read by the restarts: half of a start is the stripping of types.
  const cache = process.env["NODE_COMPILE_CACHE"] ?? path.join(dataDir, "compiled");
  const settings = { LOG_LEVEL: "warn", NODE_COMPILE_CACHE: cache };
  const options: ServerOptions = { dataDir, databaseUrl, settings };
  let server: ServerProcess | undefined;
  t.after(async () => {
    await server?.kill();
    await rm(dataDir, { recursive: true, force: true });
  });
  server = await startServer(options);
  const { port } = server;
  const demo = await server.demo();
  // Ended in order, so that what was compiled is written down.
  await server.stop();
  const operator = { PORT: String(port), SIGNET_DATA_DIR: dataDir, DATABASE_URL: databaseUrl };
  const clients = [await makeClient(demo.org, 60, operator), await makeClient(demo.org, 0, operator)];
  const restart = async () => {
    server = await startServer({ ...options, port, isDemo: false });
    return server;
  };
  await restart();
  const browser = testBrowser();
  const chains: Chain[] = [];
  for (const client of clients.flatMap((one) => Array<ChainClient>(chainsPerClient).fill(one))) {
    const last = await firstToken({ issuer: demo.issuer, client }, browser, demo.user);
    chains.push({ issuer: demo.issuer, client, last, isInFlight: false, refreshes: 0 });
  }
  return { databaseUrl, browser, chains, server, restart, inFlight: 0, lostAnswers: 0, replays: 0 };
}

async function makeClient(
  org: string,
  graceSeconds: number,
  operator: Record<string, string>,
): Promise<ChainClient> {
  const names = ["--org", org, "--name", `Grace ${graceSeconds} s`, "--type", "confidential"];
  const settings = ["--redirect-uri", redirectUri, "--refresh-token-grace", String(graceSeconds)];
  const made = await signet(["app", "create", ...names, ...settings], operator);
  const [clientId, clientSecret] = [String(made["clientId"]), String(made["clientSecret"])];
  return { clientId, clientSecret, hasGrace: graceSeconds > 0 };
}

/** After a restart every chain goes on from the last answer that it got. */
async function goOn(fixture: Fixture, chain: Chain): Promise<void> {
  if (!chain.isInFlight) return refreshChain(chain);
  fixture.inFlight += 1;
  const retried = await presentToken(chain, chain.last);
  if (chain.client.hasGrace) {
    assert.equal(retried.status, 200, "a retry after a lost answer");
    const again = await presentToken(chain, chain.last);
    assert.deepEqual(again, retried, "one and the same successor");
  } else if (retried.status !== 200) {
    // Rotated before the kill: without a grace window the lost answer cannot be told from a thief's.
    assert.deepEqual([retried.status, retried.error], [400, "invalid_grant"]);
    assert.ok(await wasRotated(fixture.databaseUrl, chain.last), "refused, but not because it was used");
    fixture.lostAnswers += 1;
    chain.last = await firstToken(chain, fixture.browser);
    return;
  }
  chain.last = retried.token;
  await refreshChain(chain);
}

/** A token whose successor has been used is refused for good, with its family; the session is still there for a new one. */
async function replayOne(fixture: Fixture, chain: Chain | undefined): Promise<void> {
  assert.ok(chain);
  const used = chain.last;
  await refreshChain(chain);
  await refreshChain(chain);
  for (const token of [used, chain.last]) {
    const { status, error } = await presentToken(chain, token);
    assert.deepEqual([status, error], [400, "invalid_grant"]);
  }
  fixture.replays += 1;
  chain.last = await firstToken(chain, fixture.browser);
}

function wasRotated(databaseUrl: string, token: string): Promise<boolean> {
  return withDatabase(databaseUrl, async ({ query }) => {
    const families = query.selectFrom("token_family").select("id");
    const previous = families.where("previous_hash", "=", sha256Base64url(token));
    return (await previous.executeTakeFirst()) !== undefined;
  });
}

function countReplays(databaseUrl: string): Promise<number> {
  return withDatabase(databaseUrl, async ({ query }) => {
    const events = query.selectFrom("audit_event").select("id");
    return (await events.where("action", "=", "refresh-token.replayed").execute()).length;
  });
}

/** Not kept open: with a second reader SQLite would have nothing to recover after a kill. */
async function withDatabase<T>(url: string, ask: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(url, 1);
  try {
    return await ask(database);
  } finally {
    await database.close();
  }
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
