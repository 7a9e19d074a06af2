/** Enrolment, tokens, refusals and stop, with the real service on loopback. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { makePool, setTokenWait } from "@signet/server/testing/fixtures/agent";
import { credentials, postForm } from "@signet/server/testing/fixtures/client";
import { makeSystemAccount } from "@signet/server/testing/fixtures/system-account";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "@signet/server/testing/test-service";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { type OpenAgent, openAgent } from "./agent/open-agent.ts";
import { runAgentCommandLine } from "./commands/agent-command-line.ts";
import { readConfiguration } from "./configuration/configuration.ts";
import { verifyJournal } from "./journal/verify-journal.ts";

describe("with the real service", () => {
  let folder: string;
  let running: TestService;
  let org: TestOrganisation;
  let batch: TestClient;
  let pool: Awaited<ReturnType<typeof makePool>>;
  let poolIssuer: string;
  let agent: OpenAgent;
  const inFolder = (name: string) => path.join(folder, name);
  const printed: string[] = [];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
    running = await startTestService({ databaseUrl: `sqlite:${inFolder("service.db")}` });
    org = await makeOrganisation(running.service);
    pool = await makePool(running.service, org, { tokenWaitSeconds: 20, algs: ["ES256", "ML-DSA-65"] });
    batch = await makeClient(running.service, org.organisation, {
      signingPoolId: pool.id,
      allowedScopes: ["jobs:run", "jobs:read"],
      grantTypes: ["client_credentials"],
    });
    poolIssuer = `${org.issuer}/sovereign/pools/${pool.id}`;
    await enroll(pool.id);
    agent = await openAgent(await readConfiguration(inFolder("agent.yaml")), {
      log: () => {},
      clock: Date.now,
    });
  });
  after(async () => {
    await agent.stop();
    await running.close();
    await rm(folder, { recursive: true });
  });

  async function administrate(...words: readonly string[]): Promise<void> {
    const account = await makeSystemAccount(running.service, org, { administrator: true });
    await writeFile(inFolder("secret"), `${account.secret}\n`, { mode: 0o600 });
    const by = ["--account", account.publicKey, "--account-secret-file", inFolder("secret")];
    assert.equal(await runAgentCommandLine([...words, ...by], io), 0, printed.join("\n"));
  }
  const io = {
    print: (line: string) => printed.push(line),
    printError: (line: string) => printed.push(line),
    clock: Date.now,
    terminal: undefined,
    onSignal: () => {},
  };

  async function enroll(poolId: string): Promise<void> {
    const options = {
      service: running.baseUrl,
      organisation: org.organisation.id,
      pool: poolId,
      name: "agent-1",
    };
    const words = Object.entries({ ...options, dir: folder });
    await administrate("enroll", ...words.flatMap(([name, value]) => [`--${name}`, value]));
    const policy = await readFile(inFolder("policy.yaml"), "utf8");
    const client = `{ aud: [], scopes: ["jobs:run"], maxLifetime: 3600, grants: [client_credentials] }`;
    await writeFile(
      inFolder("policy.yaml"),
      policy.replace("clients: {}", `clients: { "${batch.application.id}": ${client} }`),
    );
    const metrics = await readFile(inFolder("agent.yaml"), "utf8");
    await writeFile(inFolder("agent.yaml"), metrics.replace("port: 9464", "port: 0"));
  }

  const askToken = (scope: string) =>
    postForm(`${org.issuer}/token`, { grant_type: "client_credentials", scope, ...credentials(batch) });

  test("enrolment writes private files and prints no secret", async () => {
    for (const name of ["key.pem", "api-key"]) assert.equal((await stat(inFolder(name))).mode & 0o777, 0o600);
    const apiKey = (await readFile(inFolder("api-key"), "utf8")).trim();
    assert.match(apiKey, /^sgn_ak_/);
    assert.ok(!printed.join("\n").includes(apiKey));
    assert.match(printed.join("\n"), /is active/);
  });

  test("a token is signed by the agent and verifies with the pool's JWKS", async () => {
    const { status, body } = await askToken("jobs:run");
    assert.equal(status, 200, JSON.stringify(body));
    const keys = createRemoteJWKSet(new URL(`${poolIssuer}/jwks.json`));
    const { payload } = await jwtVerify(String(body["access_token"]), keys, {
      issuer: poolIssuer,
      typ: "at+jwt",
    });
    assert.equal(payload["client_id"], batch.application.id);
  });

  test("concurrent requests are all signed, each once", async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => askToken("jobs:run")));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.equal(new Set(answers.map(({ body }) => body["access_token"])).size, 40);
  });

  test("the client gets access_denied for what the policy does not allow", async () => {
    const { status, body } = await askToken("jobs:read");
    assert.deepEqual([status, body["error"]], [400, "access_denied"]);
  });

  test("metrics count what happened, and the health check passes", async () => {
    const address = `http://127.0.0.1:${agent.metricsPort}`;
    const text = await (await fetch(`${address}/metrics`)).text();
    assert.match(text, /signet_agent_tokens_signed_total\{use="access_token",alg="ES256"\} 41/);
    assert.match(text, /signet_agent_refusals_total\{reason="policy_denied",check="scope"\} 1/);
    assert.equal((await fetch(`${address}/healthz`)).status, 200);
  });

  test("a reloaded policy applies at once, and a faulty one leaves the old one in force", async () => {
    const policy = await readFile(inFolder("policy.yaml"), "utf8");
    await writeFile(inFolder("policy.yaml"), policy.replace('["jobs:run"]', '["jobs:run", "jobs:read"]'));
    await agent.reload();
    assert.equal((await askToken("jobs:read")).status, 200);
    await writeFile(inFolder("policy.yaml"), "clients: {}");
    await agent.reload();
    assert.equal((await askToken("jobs:read")).status, 200);
    await writeFile(inFolder("policy.yaml"), policy);
  });

  test("without an agent no token is issued, and the journal is intact", async () => {
    await agent.stop();
    const { entries, fault } = await verifyJournal([inFolder("journal.jsonl")]);
    assert.deepEqual([entries, fault], [44, undefined]);
    await setTokenWait(running.service, pool, 1);
    const { status, body } = await askToken("jobs:run");
    assert.deepEqual([status, body["error"]], [503, "temporarily_unavailable"]);
    await setTokenWait(running.service, pool, 20);
    agent = await openAgent(await readConfiguration(inFolder("agent.yaml")), {
      log: () => {},
      clock: Date.now,
    });
    assert.equal((await askToken("jobs:run")).status, 200);
  });

  test("rolls over from ES256 to ML-DSA-65: both keys stay published, and the new one signs", async () => {
    const before = String((await askToken("jobs:run")).body["access_token"]);
    assert.equal(
      await runAgentCommandLine(["keys", "create", inFolder("new.pem"), "--alg", "ML-DSA-65"], io),
      0,
    );
    const configuration = await readFile(inFolder("agent.yaml"), "utf8");
    const keys = "keys:\n  - file: new.pem\n    alg: ML-DSA-65";
    await writeFile(inFolder("agent.yaml"), configuration.replace("keys:", keys));
    await runAgentCommandLine(["keys", "list", "--config", inFolder("agent.yaml")], io);
    const [, kid = ""] = printed.join("\n").match(/^(\S+) {2}ML-DSA-65/m) ?? [];
    const [, agentId = ""] = printed.join("\n").match(/Registered as agent (\S+)/) ?? [];
    const words = ["--agent", agentId, "--kid", kid, "--config", inFolder("agent.yaml")];
    await administrate("keys", "register", ...words);
    await agent.stop();
    agent = await openAgent(await readConfiguration(inFolder("agent.yaml")), {
      log: () => {},
      clock: Date.now,
    });
    const after = String((await askToken("jobs:run")).body["access_token"]);
    const jwks = createRemoteJWKSet(new URL(`${poolIssuer}/jwks.json`));
    const expected = { issuer: poolIssuer, typ: "at+jwt" };
    const header = (await jwtVerify(after, jwks, expected)).protectedHeader;
    assert.deepEqual([header.alg, header.kid], ["ML-DSA-65", kid]);
    assert.equal((await jwtVerify(before, jwks, expected)).protectedHeader.alg, "ES256");
    const introspected = await postForm(`${org.issuer}/introspect`, { token: after, ...credentials(batch) });
    assert.equal(introspected.body["active"], true);
  });
});
