/** `signet-agent run` as a program of its own. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { eventually } from "@signet/server/testing/eventually";
import { verifyJournal } from "./journal/verify-journal.ts";
import { agentKey } from "./keys/key-source.ts";
import { createPemKey, openPemKey } from "./keys/pem-key.ts";
import { type FakeService, ORGANISATION, POOL, startFakeService } from "./testing/fake-service.ts";
import { POLICY, sampleRequest } from "./testing/sample-request.ts";

describe("signet-agent run", () => {
  let folder: string;
  let fake: FakeService;
  let child: ChildProcess;
  let output = "";
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
    fake = await startFakeService();
    const write = (name: string, text: string) => writeFile(path.join(folder, name), text, { mode: 0o600 });
    await createPemKey(path.join(folder, "key.pem"), "ES256");
    await write("api-key", fake.apiKey);
    await write("policy.yaml", POLICY);
    const places = `service: ${fake.url}\norganisation: ${ORGANISATION}\npool: ${POOL}\n`;
    const files =
      "apiKeyFile: api-key\npolicyFile: policy.yaml\njournalFile: journal\nkeys: [{ file: key.pem }]\n";
    await write("agent.yaml", places + files);
    start();
  });
  after(async () => {
    child.kill("SIGKILL");
    await fake.close();
    await rm(folder, { recursive: true });
  });

  function start(): void {
    output = "";
    const program = fileURLToPath(new URL("main.ts", import.meta.url));
    child = spawn(process.execPath, [program, "run", "--config", path.join(folder, "agent.yaml")]);
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => (output += chunk));
  }

  /** Until the log says so. */
  async function logged(message: string): Promise<void> {
    await eventually(`the log says "${message}"`, () => {
      if (child.exitCode !== null) throw new Error(`the agent ended: ${output}`);
      return output.includes(message);
    });
  }

  test("signs, reloads its policy on SIGHUP, and stops cleanly on SIGTERM", async () => {
    const key = agentKey(await openPemKey(path.join(folder, "key.pem")), "test");
    assert.equal((await fake.enqueue(sampleRequest(key, Date.now()))).outcome, "signed", output);
    await writeFile(path.join(folder, "policy.yaml"), POLICY.replace("[openid, email]", "[openid]"));
    child.kill("SIGHUP");
    await logged("policy reloaded");
    assert.equal((await fake.enqueue(sampleRequest(key, Date.now()))).outcome, "rejected");
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null], output);
    assert.match(output, /agent stopped/);
    assert.ok(!output.includes(fake.apiKey));
  });

  test("survives a closed log, and a kill in the middle of a journal line", async () => {
    const key = agentKey(await openPemKey(path.join(folder, "key.pem")), "test");
    const requestTokens = () => fake.enqueue(sampleRequest(key, Date.now(), { context: { scope: [] } }));
    start();
    await logged("agent started");
    child.stdout?.destroy();
    for (let index = 0; index < 3; index += 1) assert.equal((await requestTokens()).outcome, "rejected");
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    await appendFile(path.join(folder, "journal"), '{"seq":');
    start();
    assert.equal((await requestTokens()).outcome, "rejected", output);
    const { fault, isTorn } = await verifyJournal([path.join(folder, "journal")]);
    assert.deepEqual([fault, isTorn], [undefined, false]);
  });
});
