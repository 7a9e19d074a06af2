/** An agent opened from its files, against a fake service on loopback. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { access, constants, type FileHandle, mkdtemp, open, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "@signet/server/testing/eventually";
import { runAgentCommandLine } from "../commands/agent-command-line.ts";
import { readConfiguration } from "../configuration/configuration.ts";
import { openJournal } from "../journal/journal.ts";
import type { SignedRecord } from "../journal/verify-journal.ts";
import { type AgentKey, agentKey } from "../keys/key-source.ts";
import { createPemKey, openPemKey } from "../keys/pem-key.ts";
import { type FakeService, ORGANISATION, POOL, startFakeService } from "../testing/fake-service.ts";
import { type Changes, CLIENT, POLICY, sampleRequest, USER } from "../testing/sample-request.ts";
import { type OpenAgent, openAgent } from "./open-agent.ts";

const withChallenge = (type: string) =>
  POLICY.replace("grants:", `challenge: { type: ${type}, when: always }\n    grants:`);
/** Does not allow what the sample requests. */
const NARROW = POLICY.replace("[openid, email]", "[openid]");

describe("an agent opened from its files", () => {
  let folder: string;
  let fake: FakeService;
  let key: AgentKey;
  let agent: OpenAgent | undefined;
  const inFolder = (name: string) => path.join(folder, name);
  const write = (name: string, text: string) => writeFile(inFolder(name), text, { mode: 0o600 });
  before(async () => {
    fake = await startFakeService();
  });
  after(() => fake.close());
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
    await createPemKey(inFolder("key.pem"), "ES256");
    key = agentKey(await openPemKey(inFolder("key.pem")), "test");
    await write("api-key", fake.apiKey);
    await write("policy.yaml", POLICY);
    await configure();
  });
  afterEach(async () => {
    await agent?.stop();
    await eventually("no claim is pending", () => fake.waiting() === 0);
    await rm(folder, { recursive: true });
  });

  async function configure(more = ""): Promise<void> {
    const places = `service: ${fake.url}\norganisation: ${ORGANISATION}\npool: ${POOL}\n`;
    const files = "apiKeyFile: api-key\npolicyFile: policy.yaml\njournalFile: journal\n";
    await write("agent.yaml", `${places}${files}keys: [{ file: key.pem }]\n${more}`);
  }
  async function start(): Promise<OpenAgent> {
    const outside = { log: () => {}, clock: Date.now };
    agent = await openAgent(await readConfiguration(inFolder("agent.yaml")), outside);
    return agent;
  }
  const requestTokens = (changes: Changes = {}) => fake.enqueue(sampleRequest(key, Date.now(), changes));
  /** A named pipe in place of a file. `read` waits for a reader and returns the function that answers it. */
  async function makePipe(name: string): Promise<{ read(): Promise<(text: string) => Promise<void>> }> {
    await rm(inFolder(name), { force: true });
    execFileSync("mkfifo", [inFolder(name)]);
    // Fails with ENXIO until there is a reader.
    const flags = constants.O_WRONLY | constants.O_NONBLOCK;
    const opened = () => open(inFolder(name), flags).catch(() => undefined);
    return {
      read: async () => {
        let pipe: FileHandle | undefined;
        await eventually(`${name} has a reader`, async () => {
          pipe = await opened();
          return pipe !== undefined;
        });
        return async (text) => {
          await pipe?.writeFile(text);
          await pipe?.close();
        };
      },
    };
  }

  test("the policy written last wins, however long an earlier reload takes to read", async () => {
    const { reload } = await start();
    const pipe = await makePipe("policy.yaml");
    const first = reload();
    const tell = await pipe.read();
    await rename(inFolder("policy.yaml"), inFolder("pipe"));
    await write("policy.yaml", NARROW);
    const second = reload();
    await delay(50);
    await tell(POLICY);
    await Promise.all([first, second]);
    assert.equal((await requestTokens()).outcome, "rejected");
  });

  test("stops once, and reloads nothing afterwards", async () => {
    const { stop, reload } = await start();
    await Promise.all([stop(), stop()]);
    await rm(inFolder("journal"));
    await reload();
    await assert.rejects(access(inFolder("journal")));
  });

  test("a SIGHUP during start reloads as soon as possible, and does not end the process", async () => {
    const pipe = await makePipe("policy.yaml");
    const told = new Map<string, () => void>();
    const lines: string[] = [];
    const io = {
      print: (line: string) => void lines.push(line),
      printError: (line: string) => void lines.push(line),
      clock: Date.now,
      terminal: undefined,
      onSignal: (signal: string, heard: () => void) => void told.set(signal, heard),
    };
    const ended = runAgentCommandLine(["run", "--config", inFolder("agent.yaml")], io);
    const tell = await pipe.read();
    assert.equal(told.has("SIGTERM"), false, "SIGTERM still has its default action");
    told.get("SIGHUP")?.();
    await rename(inFolder("policy.yaml"), inFolder("pipe"));
    await write("policy.yaml", NARROW);
    await tell(POLICY);
    await eventually("the policy is reloaded", () => lines.some((line) => line.includes("policy reloaded")));
    assert.equal((await requestTokens()).outcome, "rejected");
    told.get("SIGTERM")?.();
    assert.equal(await ended, 0, lines.join("\n"));
  });

  test("a challenge passed in an earlier run counts, but is not extended", async () => {
    const asked = (requestId: string): SignedRecord => ({
      event: "signed",
      requestId,
      clientId: CLIENT,
      grant: "authorization_code",
      use: "access_token",
      kid: key.kid,
      jti: `jti-${requestId}`,
      sub: USER,
      aud: ["api"],
      exp: Date.now() / 1000 + 3600,
      tokenSha256: "h",
      inputSha256: "i",
      challenge: "confirm",
    });
    const journal = await openJournal(inFolder("journal"), Date.now);
    await journal.append([asked("one"), { ...asked("two"), passedIn: "one" }]);
    await journal.close();
    await write("policy.yaml", withChallenge("confirm"));
    await start();
    const inPlaceOf = (parentRequestId: string) =>
      requestTokens({ interactive: false, context: { parentRequestId } }).then(({ outcome }) => outcome);
    assert.equal(await inPlaceOf("one"), "signed");
    assert.equal(await inPlaceOf("two"), "rejected");
    const context = { parentRequestId: "one" };
    const again = await requestTokens({ access: { jti: "jti-one" }, interactive: false, context });
    assert.ok(again.outcome === "rejected" && /jti/.test(again.detail), "the jti is remembered too");
  });

  test("slow users at the webhook do not delay other users", async () => {
    let asked = 0;
    const webhook = createServer(() => {
      asked += 1;
    }).listen(0, "127.0.0.1");
    await once(webhook, "listening");
    const url = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/`;
    await write("secret", "s");
    await configure(`challenges: { channel: webhook, webhook: { url: "${url}", secretFile: secret } }\n`);
    await write(
      "policy.yaml",
      withChallenge("number_match").replace("perSubjectPerMin: 10", "perSubjectPerMin: 1000"),
    );
    await start();
    for (let index = 0; index < 70; index += 1) void requestTokens();
    await eventually("the webhook has 70 requests", () => asked === 70);
    webhook.closeAllConnections();
    webhook.close();
  });
});
