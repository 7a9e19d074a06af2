/** Key ceremony and signing of a threshold pool, with the real service on loopback and the commands of its operators. */
import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { forEachDatabase } from "@signet/server/testing/databases";
import { credentials, postForm } from "@signet/server/testing/fixtures/client";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "@signet/server/testing/test-service";
import { createRemoteJWKSet, jwtVerify } from "jose";
import type { OpenAgent } from "../agent/open-agent.ts";
import { verifyJournal } from "../journal/verify-journal.ts";
import {
  holdCeremony,
  type Machine,
  makeThresholdWorld,
  type ThresholdWorld,
} from "../testing/threshold-machines.ts";

forEachDatabase(({ empty }) => {
  let folder: string;
  let running: TestService;
  let org: TestOrganisation;
  let world: ThresholdWorld;
  const agents: OpenAgent[] = [];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-threshold-"));
    running = await startTestService({ databaseUrl: await empty() });
    org = await makeOrganisation(running.service);
    world = await makeThresholdWorld({
      running,
      org,
      folder,
      threshold: { min: 2, max: 3 },
      tokenWaitSeconds: 12,
    });
  });
  after(async () => {
    for (const agent of agents) await agent.stop();
    await running.close();
    await rm(folder, { recursive: true });
  });

  const askToken = (scope = "jobs:run") =>
    postForm(`${org.issuer}/token`, {
      grant_type: "client_credentials",
      scope,
      ...credentials(world.client),
    });
  const hasSigned = async ({ folder: own }: Machine) =>
    (await readFile(path.join(own, "journal.jsonl"), "utf8")).includes('"event":"signed"');
  const jwks = async () =>
    (await fetch(`${world.issuer}/jwks.json`)).json() as Promise<{ keys: Array<{ kid: string; x: string }> }>;

  test("the identity keys of a threshold pool's agents are in no JWKS", async () => {
    assert.deepEqual((await jwks()).keys, []);
  });

  test("the key is published once every machine's operator has confirmed the same transcript", async () => {
    const { machines } = world;
    await holdCeremony(machines);
    const { keys } = await jwks();
    assert.equal(keys.length, 1);
    for (const machine of machines) {
      assert.equal(await machine.threshold("verify"), 0, machine.printed.join("\n"));
      assert.match(
        machine.printed.join("\n"),
        new RegExp(`Key ${keys[0]?.kid}: 2 of 3, share valid, (active|confirmed), active`),
      );
    }
  });

  test("the audit log has the ceremony", async () => {
    const rows = await running.service.database.query
      .selectFrom("audit_event")
      .select("action")
      .where("org_id", "=", org.organisation.id)
      .where("action", "like", "threshold-ceremony.%")
      .orderBy("at")
      .execute();
    const count = (name: string) => rows.filter(({ action }) => action === name).length;
    assert.deepEqual(
      ["threshold-ceremony.begun", "threshold-ceremony.answered", "threshold-ceremony.completed"].map(count),
      [1, 9, 1],
    );
  });

  test("two machines of three sign a token that any library verifies", async () => {
    const [first, second] = world.machines;
    assert.ok(first && second);
    agents.push(await first.start(), await second.start());
    const { status, body } = await askToken();
    assert.equal(status, 200, JSON.stringify(body));
    const set = createRemoteJWKSet(new URL(`${world.issuer}/jwks.json`));
    const verified = await jwtVerify(String(body["access_token"]), set, {
      issuer: world.issuer,
      typ: "at+jwt",
    });
    assert.equal(verified.protectedHeader.alg, "EdDSA");
    const [header, payload, signature] = String(body["access_token"]).split(".");
    const [jwk] = (await jwks()).keys;
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: String(jwk?.x) }, format: "jwk" });
    assert.ok(
      verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(String(signature), "base64url")),
    );
  });

  test("tokens asked for at once are all signed, each once", async () => {
    // A client asks again when it is told that nothing has been signed yet: its request has stayed in the queue.
    const askTwice = async () => {
      const answer = await askToken();
      return answer.status === 503 ? askToken() : answer;
    };
    const answers = await Promise.all(Array.from({ length: 20 }, askTwice));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.equal(new Set(answers.map(({ body }) => body["access_token"])).size, 20);
  });

  test("every machine checks its own policy, and two refusals of three end the request", async () => {
    const [, , third] = world.machines;
    assert.ok(third);
    agents.push(await third.start());
    // It has published its commitments once it takes part.
    while (!(await hasSigned(third))) assert.equal((await askToken()).status, 200);
    const { status, body } = await askToken("jobs:read");
    assert.deepEqual([status, body["error"]], [400, "access_denied"]);
  });

  test("a machine that is away is replaced, and one alone signs nothing", async () => {
    const [, second] = world.machines;
    assert.ok(second);
    await agents[0]?.stop();
    assert.equal((await askToken()).status, 200);
    await agents[1]?.stop();
    const { status, body } = await askToken();
    assert.deepEqual([status, body["error"]], [503, "temporarily_unavailable"]);
    agents.push(await second.start());
    const again = await askToken();
    assert.equal(
      again.status,
      200,
      JSON.stringify([again.body, world.machines.map(({ logged }) => logged.slice(-5))]),
    );
  });

  test("each journal has what its machine signed, and is intact", async () => {
    for (const agent of agents.splice(0)) await agent.stop();
    let signed = 0;
    for (const { folder: own } of world.machines) {
      const file = path.join(own, "journal.jsonl");
      const { fault } = await verifyJournal([file], (entry) => {
        if (entry.event === "signed") signed += 1;
      });
      assert.equal(fault, undefined);
      assert.ok(!(await readFile(file, "utf8")).includes("tokenSha256"));
    }
    // Two machines for each of the tokens above.
    assert.ok(signed >= 2 * 23, `${signed} shares`);
  });
});
