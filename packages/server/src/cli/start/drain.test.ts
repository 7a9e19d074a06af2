/** A server with clients is stopped: 20 keep-alive clients under load, each of which sends a request as soon as it can. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { eventually } from "../../testing/eventually.ts";
import { type StartedProgram, startSignet } from "../../testing/started-program.ts";

const CLIENTS = 20;

let folder: string;
const running: StartedProgram[] = [];
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-drain-"));
});
after(async () => {
  for (const server of running) server.kill();
  await rm(folder, { recursive: true, force: true });
});

async function start(name: string, env: Record<string, string>): Promise<StartedProgram> {
  const server = await startSignet([], { SIGNET_DATA_DIR: path.join(folder, name), ...env });
  running.push(server);
  return server;
}

interface Outcome {
  readonly status?: number | undefined;
  /** Whether the response announces the end of the connection. */
  readonly closes?: boolean;
  readonly error?: string | undefined;
}

function ask(server: StartedProgram, agent: Agent, target = "/healthz"): Promise<Outcome> {
  return new Promise((resolve) => {
    request({ agent, host: "localhost", port: server.port, path: target }, (response) => {
      response.resume().once("end", () => {
        resolve({ status: response.statusCode, closes: response.headers.connection === "close" });
      });
      response.once("error", (error: NodeJS.ErrnoException) => resolve({ error: error.code }));
    })
      .once("error", (error: NodeJS.ErrnoException) => resolve({ error: error.code }))
      .end();
  });
}

/** Sends requests on one connection until nobody listens any more. @returns every outcome but the refused last one */
async function client(server: StartedProgram): Promise<Outcome[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const outcomes: Outcome[] = [];
  for (;;) {
    const outcome = await ask(server, agent);
    if (outcome.error === "ECONNREFUSED") break;
    outcomes.push(outcome);
  }
  agent.destroy();
  return outcomes;
}

test("no client sees a reset, every response says that the connection ends, and readiness says no", async () => {
  const server = await start("load", { SIGNET_DRAIN_SECONDS: "1" });
  const clients = Array.from({ length: CLIENTS }, () => client(server));
  const agent = new Agent({ keepAlive: true });
  assert.equal((await ask(server, agent)).closes, false);
  const stopped = server.stop();
  const readiness: Outcome[] = [];
  await eventually("readiness says no", async () => {
    readiness.push(await ask(server, agent, "/readyz"));
    return readiness.at(-1)?.status === 503;
  });
  assert.equal(readiness.at(-1)?.closes, true);
  // The listeners are still open for those who have not heard.
  assert.equal((await ask(server, agent)).status, 200);
  const outcomes = (await Promise.all(clients)).flat();
  assert.deepEqual(
    outcomes.filter(({ status }) => status !== 200),
    [],
  );
  assert.ok(
    outcomes.some(({ closes }) => closes),
    "clients are told to leave",
  );
  assert.equal((await stopped).code, 0);
  agent.destroy();
});

test("a server that is stopped at its terminal ends without waiting", async () => {
  const server = await start("terminal", { SIGNET_DRAIN_SECONDS: "300" });
  const { code, milliseconds } = await server.stop("SIGINT");
  assert.equal(code, 0);
  assert.ok(milliseconds < 30_000, `${milliseconds} ms`);
});
