import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { eventually } from "../../testing/eventually.ts";
import { startSignet } from "../../testing/started-program.ts";
import { requestLine } from "./log.ts";
import { prettyLine } from "./pretty-log.ts";

const TIME = "2026-11-27T10:20:30.400Z";
const clock = new Date(TIME).toTimeString().slice(0, 8);

test("a line has time, level, message and the members, each value in one piece", () => {
  const line = {
    level: 40,
    time: TIME,
    service: "signet",
    function: "a.b",
    cause: "a = b",
    at: { n: 1 },
    msg: "slow",
  };
  assert.equal(
    prettyLine(JSON.stringify(line)),
    `${clock} warn  slow function=a.b cause="a = b" at={"n":1}\n`,
  );
  const request = { requestId: "n-1", method: "GET", route: "/:org", status: 200, durationMs: 1.5 };
  const more = { orgId: undefined, clientId: undefined, address: "::1", traceId: undefined };
  assert.equal(
    prettyLine(requestLine({ ...request, ...more }, TIME)),
    `${clock} info  request requestId=n-1 method=GET route=/:org address=::1 status=200 durationMs=1.5\n`,
  );
});

test("a value neither begins a line nor commands the terminal; a stack has lines of its own", () => {
  const line = {
    level: 50,
    time: TIME,
    error: "x\n\u001b[2J",
    stack: "Error: x\n    at \u001by",
    msg: "a\nb\u009b",
  };
  const pretty = prettyLine(JSON.stringify(line));
  assert.equal(pretty, `${clock} error a?b? error="x\\n\\u001b[2J"\n    Error: x\n    at ?y\n`);
});

test("the server's log is pretty where LOG_FORMAT says so, to its last line", async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-pretty-"));
  const server = await startSignet([], { SIGNET_DATA_DIR: folder, LOG_FORMAT: "pretty" });
  await eventually("a request is told", () =>
    /info {2}request .*route=\/readyz .*status=200/.test(server.out()),
  );
  await server.stop();
  assert.match(server.out(), /^\d\d:\d\d:\d\d info {2}stopped/m);
  assert.deepEqual(server.logLines(), []);
  await rm(folder, { recursive: true });
});
