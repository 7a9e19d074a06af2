import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { eventually } from "../../testing/eventually.ts";
import { type StartedProgram, startSignet } from "../../testing/started-program.ts";
import { watchUncaughtErrors } from "./last-resort.ts";

const failing = path.join(import.meta.dirname, "..", "..", "testing", "fakes", "uncaught-errors.ts");

describe("an error that nobody catches", () => {
  let folder: string;
  const running: StartedProgram[] = [];
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-uncaught-"));
  });
  after(async () => {
    for (const server of running) server.kill();
    await rm(folder, { recursive: true, force: true });
  });

  for (const kind of ["throw", "reject"])
    test(`${kind}: is logged once, requests finish, no new ones are taken, and the exit code is 1`, async () => {
      const server = await startSignet([], {
        SIGNET_DATA_DIR: path.join(folder, kind),
        NODE_OPTIONS: `--import=${pathToFileURL(failing)}`,
        SIGNET_TEST_UNCAUGHT: kind,
      });
      running.push(server);
      const body = "grant_type=client_credentials";
      const socket = connect(server.port, "localhost").setEncoding("utf8");
      await once(socket, "connect");
      const cut = once(socket, "close").then(() => ["the connection was cut"]);
      const head = ["POST /oauth/00000000-0000-7000-8000-000000000000/token HTTP/1.1", "host: localhost"];
      const type = ["content-type: application/x-www-form-urlencoded", `content-length: ${body.length}`];
      socket.write([...head, ...type, "", body.slice(0, -1)].join("\r\n"));
      // An answer on a later connection: the request before it has reached the server too.
      await (await fetch(`${server.baseUrl}/healthz`, { headers: { connection: "close" } })).text();
      const ended = server.stop("SIGUSR2");
      await eventually("it takes no new request", () =>
        fetch(`${server.baseUrl}/healthz`, { headers: { connection: "close" } }).then(
          ({ status }) => status === 503,
          () => true,
        ),
      );
      socket.write(body.slice(-1));
      const [answer] = (await Promise.race([once(socket, "data"), cut])) as [string];
      assert.match(answer, /^HTTP\/1\.1 404 /);
      socket.destroy();
      const { code, signal } = await ended;
      assert.deepEqual([code, signal], [1, null]);
      const fatal = server.logLines().filter((line) => line.includes('"level":60'));
      assert.equal(fatal.length, 1, fatal.join("\n"));
      assert.match(
        fatal[0] ?? "",
        /"error":"broken for sgn_cs_\[redacted\]".*"msg":"uncaught error: stopping"/,
      );
      assert.match(server.logLines().at(-1) ?? "", /"msg":"stopped"/);
      assert.doesNotMatch(server.out() + server.err(), /uncaught-errors-secret/);
    });

  test("what hangs while stopping ends with the process", async () => {
    const { promise: exited, resolve: exit } = Promise.withResolvers<number>();
    let flushed = 0;
    const log = { fatal: () => {}, flush: () => void flushed++ };
    const known = process.listeners("uncaughtException");
    const watched = watchUncaughtErrors(log, { maxStopMs: 20, exit });
    const [handle] = process.listeners("uncaughtException").filter((listener) => !known.includes(listener));
    const alive = setTimeout(() => exit(0), 10_000);
    try {
      assert.ok(!watched.hasFailed());
      handle?.(new Error("late"), "uncaughtException");
      assert.equal(await watched.stopRequested, "uncaught error");
      assert.ok(watched.hasFailed());
      assert.deepEqual([await exited, flushed], [1, 1]);
    } finally {
      watched.end();
      clearTimeout(alive);
    }
  });
});
