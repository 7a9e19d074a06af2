/**
 * The service never has an agent's private key: it is looked for in the database, the data folder, all logs and the server's
 * own memory, after an enrolment, tokens of every grant and a challenge. And without an agent there is no new token.
 */
import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { forEachDatabase } from "../../packages/server/src/testing/databases.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { authorizationRequest, testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import { setTokenWait } from "../../packages/server/src/testing/fixtures/agent.ts";
import { credentials, postForm, redeem, refresh } from "../../packages/server/src/testing/fixtures/client.ts";
import {
  askForCodes,
  decideDeviceCode,
  makeDeviceApp,
  poll,
} from "../../packages/server/src/testing/fixtures/device.ts";
import { answerOf, follow, logIn } from "../../packages/server/src/testing/fixtures/visit.ts";
import { dumpWholeDatabase } from "../../packages/server/src/testing/probes/dump-database.ts";
import { makeClient, REDIRECT_URI } from "../../packages/server/src/testing/test-service.ts";
import type { ServerProcess } from "../support/server-process.ts";
import { type ChallengeWebhook, openChallengeWebhook } from "./challenge-webhook.ts";
import { canReadMemory, encodingsOf, filesIn, found, memoryOf, privateNumber } from "./key-search.ts";
import { enrolByCommands, startAgentProcess } from "./signing-agent-process.ts";
import { type SovereignFixture, setUpFixture } from "./sovereign-fixture.ts";

const inTime = { timeout: 300_000 };

test("the search finds a key in every encoding", () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const needles = encodingsOf(privateKey);
  const secret = privateNumber(privateKey);
  const der = privateKey.export({ format: "der", type: "pkcs8" });
  const written = [secret, der].flatMap((bytes) => [
    bytes,
    ...(["hex", "base64", "base64url"] as const).map((form) => bytes.toString(form)),
    bytes.toString("hex").toUpperCase(),
  ]);
  const pem = String(privateKey.export({ format: "pem", type: "pkcs8" }));
  for (const text of [...written, pem, JSON.stringify(privateKey.export({ format: "jwk" }))])
    assert.notDeepEqual(found(needles, text), [], String(text).slice(0, 40));
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  assert.deepEqual(found(needles, String(other.export({ format: "pem", type: "pkcs8" }))), []);
});

forEachDatabase(({ name, fresh }) => {
  test(
    "no private key in database, data folder, logs or memory; no token without the agent",
    inTime,
    async (t) => {
      const fixture = await setUpFixture(t, {
        databaseUrl: name === "postgres" ? await fresh() : undefined,
        tokenWaitSeconds: 20,
      });
      const clients = await makeClients(fixture);
      const server = await fixture.start({ NODE_OPTIONS: "--heapsnapshot-signal=SIGUSR2" });
      const webhook = await openChallengeWebhook();
      t.after(() => webhook.close());
      const agent = await startAgent(t, { fixture, clients, webhook });
      const refreshToken = await useEveryGrant(fixture, clients, webhook);
      // Long enough before the end that the server has heard of it by then.
      await fixture.operate((service) => setTokenWait(service, fixture.pool, 1));

      const privateKey = createPrivateKey(await readFile(path.join(agent.folder, "key.pem")));
      const needles = encodingsOf(privateKey);
      const x = Buffer.from(String(createPublicKey(privateKey).export({ format: "jwk" }).x));
      const shown = [{ name: "public", bytes: x }];
      const search: Search = (where, hay, hasPublic = true) => {
        assert.deepEqual(found(needles, hay), [], where);
        if (hasPublic)
          assert.deepEqual(found(shown, hay), ["public"], `${where} is not what was to be searched`);
      };
      // The same program with either database: once is enough.
      if (name === "sqlite") await searchMemory(server, fixture.folder, search);
      search("the database", await fixture.operate(({ database }) => dumpWholeDatabase(database.query)));
      const files = await filesIn(fixture.folder);
      for (const file of files) search(file.name, file.bytes, false);
      const data = Buffer.concat(files.map(({ bytes }) => bytes));
      assert.equal(data.includes(x), name === "sqlite", "the database's files are among them");
      search("what the commands printed", agent.printed);
      search("the server's log", server.output(), false);
      assert.match(server.output(), /sovereign\/agent\/sign/);
      search("the agent's log", agent.output(), false);
      assert.match(agent.output(), /agent started/);
      for (const file of await filesIn(agent.folder))
        if (file.name === "key.pem") assert.notDeepEqual(found(needles, file.bytes), []);
        else search(`the agent's ${file.name}`, file.bytes, false);

      await agent.stop();
      await getsNothing(fixture, clients, refreshToken);
    },
  );
});

type Clients = Awaited<ReturnType<typeof makeClients>>;

const makeClients = ({ operate, org, pool }: SovereignFixture) =>
  operate(async (service) => {
    const signed = { signingPoolId: pool.id, requireConsent: false } as const;
    const web = await makeClient(service, org.organisation, { ...signed, redirectUris: [REDIRECT_URI] });
    const batch = await makeClient(service, org.organisation, {
      signingPoolId: pool.id,
      grantTypes: ["client_credentials"],
      allowedScopes: ["jobs:run"],
    });
    return { web, batch, television: await makeDeviceApp(service, org, { signingPoolId: pool.id }) };
  });

async function startAgent(
  t: TestContext,
  { fixture, clients, webhook }: { fixture: SovereignFixture; clients: Clients; webhook: ChallengeWebhook },
) {
  // Not in the server's data folder, which is searched.
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-agent-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { web, batch, television } = clients;
  const user =
    "aud: [], scopes: [openid, profile, email], claims: [email, email_verified, name, given_name, family_name, phone_number, updated_at], maxLifetime: 3600";
  const challenge = "challenge: { type: number_match, when: authorization_code }";
  const printed = await enrolByCommands(
    { org: fixture.org.organisation.id, pool: fixture.pool.id, baseUrl: fixture.baseUrl },
    {
      folder,
      clients: {
        [web.application.id]: `{ ${user}, grants: [authorization_code, refresh_token], ${challenge} }`,
        [television.id]: `{ ${user}, grants: [device_code] }`,
        [batch.application.id]:
          "{ aud: [], scopes: ['jobs:run'], maxLifetime: 3600, grants: [client_credentials] }",
      },
    },
    { SIGNET_DATA_DIR: fixture.folder, DATABASE_URL: fixture.databaseUrl, SIGNET_BASE_URL: fixture.baseUrl },
  );
  await webhook.useFor(folder);
  const agent = startAgentProcess(folder);
  t.after(() => agent.kill());
  await agent.said("agent started");
  return { ...agent, folder, printed };
}

/** @returns a refresh token that was not used yet */
async function useEveryGrant(
  { org }: SovereignFixture,
  { web, batch, television }: Clients,
  webhook: ChallengeWebhook,
): Promise<string> {
  const asked = { grant_type: "client_credentials", scope: "jobs:run", ...credentials(batch) };
  // The agent has started; its first call may still be on its way.
  await eventually("it signs", async () => (await postForm(`${org.issuer}/token`, asked)).status === 200);

  const browser = testBrowser();
  const { query, verifier } = authorizationRequest(web.application.id, REDIRECT_URI);
  const login = await follow(browser, await browser.get(`${org.issuer}/authorize?${query}`));
  const page = await logIn(browser, org, login);
  const { question, reply } = await webhook.asked();
  assert.equal(question.sub, org.user.id);
  const status = async () =>
    JSON.parse((await browser.get(`${page.url}/status`)).body) as Record<string, unknown>;
  reply(String(((await status())["challenge"] as { display: string }).display));
  await eventually("it is signed", async () => (await status())["status"] === "signed", 30_000);
  const code = answerOf(await browser.get(`${page.url}/continue`)).get("code") ?? "";
  const first = await redeem(org, { code, verifier }, web);
  assert.equal(first.status, 200, JSON.stringify(first.body));
  const second = await refresh(org, String(first.body["refresh_token"]), {}, web);
  assert.equal(second.status, 200, JSON.stringify(second.body));

  const codes = await askForCodes(org, television);
  const approved = await follow(browser, await decideDeviceCode(browser, org, codes));
  const isSigned = async () => /"status":"signed"/.test((await browser.get(`${approved.url}/status`)).body);
  if (approved.body.includes('id="wait"')) await eventually("it is signed", isSigned, 30_000);
  const device = await poll(org, codes);
  assert.equal(device.status, 200, JSON.stringify(device.body));
  return String(second.body["refresh_token"]);
}

type Search = (where: string, hay: Buffer | string, hasPublic?: boolean) => void;

/** What has to be found is the server's own address, which stays as long as it runs: a key's public members may be collected. */
async function searchMemory(server: ServerProcess, folder: string, search: Search): Promise<void> {
  const snapshot = await heapSnapshot(server, folder);
  const heap = await readFile(snapshot);
  await rm(snapshot);
  search("the heap snapshot", heap, false);
  assert.ok(heap.includes(server.baseUrl), "the heap snapshot is that of this server");
  // A snapshot leaves out what buffers hold.
  if (!canReadMemory(server.pid)) return;
  let hasAddress = false;
  for (const part of memoryOf(server.pid)) {
    search("the server's memory", part, false);
    hasAddress ||= part.includes(server.baseUrl);
  }
  assert.ok(hasAddress, "the server's memory was searched");
}

/** Node writes it into the server's working folder; until it has, the server answers nobody. */
async function heapSnapshot({ pid, baseUrl }: ServerProcess, folder: string): Promise<string> {
  process.kill(pid, "SIGUSR2");
  const written = async () => (await readdir(folder)).find((file) => file.endsWith(".heapsnapshot"));
  await eventually("the heap snapshot is there", async () => (await written()) !== undefined, 90_000);
  await (await fetch(`${baseUrl}/healthz`)).arrayBuffer();
  return path.join(folder, (await written()) ?? "");
}

async function getsNothing({ org }: SovereignFixture, clients: Clients, refreshToken: string): Promise<void> {
  const { web, batch, television } = clients;
  const asked = { grant_type: "client_credentials", scope: "jobs:run", ...credentials(batch) };
  for (const { status, body } of await Promise.all([
    postForm(`${org.issuer}/token`, asked),
    refresh(org, refreshToken, {}, web),
  ]))
    assert.deepEqual([status, body["error"]], [503, "temporarily_unavailable"]);

  const browser = testBrowser();
  const { query } = authorizationRequest(web.application.id, REDIRECT_URI);
  const login = await follow(browser, await browser.get(`${org.issuer}/authorize?${query}`));
  const page = await logIn(browser, org, login);
  assert.match(page.body, /id="wait"/);
  assert.equal((await browser.get(`${page.url}/continue`)).location, page.url);
  const silent = authorizationRequest(web.application.id, REDIRECT_URI, { prompt: "none" });
  const answer = answerOf(await browser.get(`${org.issuer}/authorize?${silent.query}`));
  assert.deepEqual([answer.get("error"), answer.get("code")], ["temporarily_unavailable", null]);

  const codes = await askForCodes(org, television);
  await decideDeviceCode(browser, org, codes);
  assert.equal((await poll(org, codes)).body["error"], "authorization_pending");
}
