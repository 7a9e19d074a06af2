import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { openJournal } from "../journal/journal.ts";
import { CLIENT, ISSUER, POLICY } from "../testing/sample-request.ts";
import { agentProgram, runAgentCommandLine } from "./agent-command-line.ts";

describe("signet-agent", () => {
  let folder: string;
  const out: string[] = [];
  const err: string[] = [];
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
    await writeFile(path.join(folder, "policy.yaml"), POLICY);
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(() => {
    out.length = 0;
    err.length = 0;
  });
  const file = (name: string) => path.join(folder, name);
  const run = (...words: string[]) =>
    runAgentCommandLine(words, {
      print: (line) => out.push(line),
      printError: (line) => err.push(line),
      clock: Date.now,
      terminal: undefined,
      onSignal: () => {},
    });

  test("every command has help, and usage errors exit with 2", async () => {
    for (const { name } of agentProgram.commands) assert.equal(await run(...name.split(" "), "--help"), 0);
    assert.equal(await run("--help"), 0);
    assert.equal(await run("sing"), 2);
    assert.equal(await run("policy", "test"), 2);
    assert.equal(await run("enroll"), 2);
    assert.match(err.join("\n"), /--service is missing, --organisation is missing/);
    assert.equal(await run("keys", "list", "--unknown"), 2);
  });

  test("policy test says whether a token would be signed, and why not", async () => {
    const claims = { iss: ISSUER, sub: "u", aud: "api", iat: 1000, exp: 2000, jti: "j", client_id: CLIENT };
    await writeFile(file("good.json"), JSON.stringify({ ...claims, scope: "email" }));
    await writeFile(file("bad.json"), JSON.stringify({ ...claims, scope: "email", aud: "payments" }));
    const policy = ["--policy", file("policy.yaml")];
    assert.deepEqual([await run("policy", "test", file("good.json"), ...policy), out.at(-1)], [0, "signed"]);
    assert.equal(await run("policy", "test", file("bad.json"), ...policy), 1);
    assert.match(out.at(-1) ?? "", /refused \(policy_denied, aud\): audience "payments"/);
    assert.equal(
      await run("policy", "test", file("good.json"), ...policy, "--grant", "client_credentials"),
      1,
    );
    assert.equal(await run("policy", "check", ...policy), 0);
  });

  test("journal verify shows where the chain breaks, and a missing end", async () => {
    const journal = await openJournal(file("journal"), () => 0);
    const refused = {
      event: "refused",
      requestId: "r",
      clientId: "c",
      reason: "x",
      check: "y",
      detail: "z",
    } as const;
    await journal.append([refused, refused]);
    const { hash } = journal.position;
    await journal.close();
    assert.equal(await run("journal", "verify", file("journal"), "--head", hash), 0);
    const [first = ""] = (await readFile(file("journal"), "utf8")).split("\n");
    await writeFile(file("journal"), `${first}\n`);
    assert.equal(await run("journal", "verify", file("journal")), 0);
    assert.equal(await run("journal", "verify", file("journal"), "--head", hash), 1);
    await writeFile(file("journal"), `${first.replace('"x"', '"w"')}\n`);
    assert.equal(await run("journal", "verify", file("journal")), 1);
    assert.match(out.at(-1) ?? "", /:1 was changed/);
  });

  test("enroll --print writes the files and prints a registration, and keeps an existing key", async () => {
    const id = "33333333-3333-4333-8333-333333333333";
    const words = ["--service", "https://id.example", "--organisation", id, "--pool", id, "--name", "a"];
    assert.equal(await run("enroll", ...words, "--dir", file("new"), "--print"), 0, err.join());
    const registration = JSON.parse(out.join("\n"));
    assert.deepEqual(
      [registration.poolId, registration.keys.length, "d" in registration.keys[0].jwk],
      [id, 1, false],
    );
    const key = await readFile(file("new/key.pem"), "utf8");
    assert.equal(await run("enroll", ...words, "--dir", file("new"), "--print"), 0);
    assert.equal(await readFile(file("new/key.pem"), "utf8"), key);
    assert.equal(await run("keys", "list", "--config", file("new/agent.yaml")), 0);
    assert.match(out.at(-1) ?? "", /ES256/);
    const [kid = ""] = (out.at(-1) ?? "").split(" ");
    assert.equal(
      await run("keys", "register", "--kid", kid, "--print", "--config", file("new/agent.yaml")),
      0,
    );
    assert.equal(JSON.parse(out.at(-1) ?? "").keys[0].jwk.x, registration.keys[0].jwk.x);
    assert.equal(
      await run("enroll", ...words.with(1, "http://id.example"), "--dir", file("new"), "--print"),
      2,
    );
  });

  test("keys create makes a key of each algorithm, in a file that nobody else can read", async () => {
    assert.equal(await run("keys", "create", file("lattice.pem"), "--alg", "ML-DSA-65"), 0, err.join());
    assert.equal((await stat(file("lattice.pem"))).mode & 0o777, 0o600);
    assert.equal(createPrivateKey(await readFile(file("lattice.pem"))).asymmetricKeyType, "ml-dsa-65");
    assert.equal(await run("keys", "create", file("other.pem"), "--alg", "ML-DSA-512"), 2);
    assert.match(err.join("\n"), /ML-DSA-44, ML-DSA-65, ML-DSA-87/);
    assert.equal(await run("keys", "create", "--help"), 0);
    assert.match(out.join("\n"), /ML-DSA-87/);
  });

  test("a configuration with a key of ML-DSA in PKCS#11 says where to keep it", async () => {
    const token = "{ library: l.so, token: t, pinFile: pin, key: k }";
    const whole = (await readFile(file("new/agent.yaml"), "utf8")).replace(
      /keys:\n {2}- file: .*/,
      `keys:\n  - pkcs11: ${token}\n    alg: ML-DSA-65`,
    );
    await writeFile(file("token.yaml"), whole);
    assert.equal(await run("keys", "list", "--config", file("token.yaml")), 1);
    assert.match(err.join("\n"), /keys\.0: ML-DSA keys in PKCS#11 are not supported: keep the key in a file/);
  });

  test("a faulty configuration is reported with line numbers, and nothing starts", async () => {
    await writeFile(file("agent.yaml"), "service: http://id.example\nkeys: []\npolicy: x\n");
    assert.equal(await run("run", "--config", file("agent.yaml")), 1);
    assert.match(err.join("\n"), /agent\.yaml:3 {2}policy is not known/);
    assert.match(err.join("\n"), /agent\.yaml:2 {2}keys must have at least 1 item/);
    assert.match(err.join("\n"), /journalFile is missing/);
  });

  test("the agent does not start with an API key that others can read", async () => {
    await writeFile(file("new/api-key"), "sgn_ak_x\n", { mode: 0o644 });
    assert.equal(await run("run", "--config", file("new/agent.yaml")), 1);
    assert.match(err.join("\n"), /can be read by others/);
  });
});
