import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { runAgentCommandLine } from "./agent-command-line.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-agent-health-"));
});
after(() => rm(folder, { recursive: true }));

/** @param metrics of agent.yaml */
async function health(metrics: string): Promise<{ code: number; words: string }> {
  const file = path.join(folder, "agent.yaml");
  const ids = `organisation: ${randomUUID()}\npool: ${randomUUID()}`;
  const files =
    "apiKeyFile: api-key\npolicyFile: policy.yaml\njournalFile: journal\nkeys: [{ file: key.pem }]";
  await writeFile(file, `service: https://id.example\n${ids}\n${files}\n${metrics}\n`);
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const io = { print, printError: print, clock: Date.now, terminal: undefined, onSignal: () => {} };
  const code = await runAgentCommandLine(["health", "--config", file], io);
  return { code, words: lines.join("\n") };
}

test("says what the running agent says, and exits by it", async (t) => {
  let status = 200;
  const server = createServer((request, response) =>
    response
      .writeHead(request.url === "/healthz" ? status : 404)
      .end(status === 200 ? "ok\n" : "the service is away\n"),
  ).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  assert.deepEqual(await health(`metrics: { port: ${port} }`), { code: 0, words: "ok" });
  assert.deepEqual(await health(`metrics: { host: 0.0.0.0, port: ${port} }`), { code: 0, words: "ok" });
  status = 503;
  assert.deepEqual(await health(`metrics: { port: ${port} }`), { code: 1, words: "the service is away" });
});

test("without a running agent, or an address to ask, it fails with a sentence", async () => {
  const nobody = await health("metrics: { port: 9 }");
  assert.deepEqual(nobody, {
    code: 1,
    words: "http://127.0.0.1:9/healthz does not answer: no agent is running",
  });
  const { code, words } = await health("");
  assert.equal(code, 1);
  assert.match(words, /agent\.yaml has no metrics: set its port/);
});
