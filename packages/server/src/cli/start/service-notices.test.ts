/** With a program in the place of systemd-notify; interop/ship tests the real one with a socket. */
import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { freshPostgres } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { startSignet } from "../../testing/started-program.ts";
import { TEST_MASTER_KEY } from "../../testing/test-service.ts";
import { serviceNotices } from "./service-notices.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-notices-"));
});
after(() => rm(folder, { recursive: true, force: true }));

/** A systemd-notify that writes down what it is called with, and its environment. */
async function fakeManager(name: string) {
  const bin = path.join(folder, name);
  const told = path.join(folder, `${name}.told`);
  await mkdir(bin);
  const program = path.join(bin, "systemd-notify");
  await writeFile(program, `#!/bin/sh\n{ echo "$@"; env >"${told}.env"; } >>"${told}"\n`);
  await chmod(program, 0o755);
  return {
    environment: { PATH: `${bin}:/usr/bin:/bin`, NOTIFY_SOCKET: "/run/systemd/notify" },
    lines: async () => (await readFile(told, "utf8").catch(() => "")).split("\n").filter(Boolean),
    seen: () => readFile(`${told}.env`, "utf8"),
  };
}

const silentLog = { error: () => {} } as unknown as Parameters<typeof serviceNotices>[1];

test("the watchdog is fed while the process does its work, and not while it is stuck", async (t) => {
  const { environment, lines } = await fakeManager("stuck");
  t.mock.timers.enable({ apis: ["setInterval"] });
  let isStuck = false;
  const notices = serviceNotices({ environment, watchdogMs: 1_000 }, silentLog);
  notices.ready(() => isStuck);
  const fed = async () => (await lines()).filter((line) => line === "WATCHDOG=1").length;
  t.mock.timers.tick(500);
  await eventually("it is fed after half of the time", async () => (await fed()) === 1);
  isStuck = true;
  t.mock.timers.tick(5_000);
  isStuck = false;
  t.mock.timers.tick(500);
  await eventually("it is fed again", async () => (await fed()) >= 2);
  assert.equal(await fed(), 2);
  notices.end();
  t.mock.timers.tick(5_000);
  // What it would have said by then is said by a program that has to start.
  await setTimeout(200);
  assert.equal(await fed(), 2, "after the end nothing is said");
});

test("a program that is missing is logged once, and ends nothing", async (t) => {
  const messages: string[] = [];
  const error = (_fields: unknown, message: string) => void messages.push(message);
  const notices = serviceNotices(
    { environment: { PATH: folder, NOTIFY_SOCKET: "/nowhere" }, watchdogMs: 4 },
    { error } as unknown as typeof silentLog,
  );
  // Other tests run in this process afterwards.
  t.after(() => notices.end());
  notices.ready(() => false);
  await eventually("it is logged", () => messages.length > 0);
  await setTimeout(50);
  assert.deepEqual(messages, ["telling systemd failed"]);
});

describe("signet start under systemd", () => {
  test("says when it serves and when it stops, and hands no secret on", async () => {
    const { environment, lines, seen } = await fakeManager("alone");
    const env = { ...environment, SIGNET_DATA_DIR: path.join(folder, "data"), WATCHDOG_USEC: "100000" };
    const server = await startSignet([], { ...env, SIGNET_MASTER_KEY: TEST_MASTER_KEY });
    await eventually("the watchdog is fed", async () => (await lines()).includes("WATCHDOG=1"));
    await eventually("it is told", async () => (await lines()).includes("READY=1 STATUS=Serving"));
    assert.doesNotMatch(await seen(), new RegExp(`SIGNET_|${TEST_MASTER_KEY}`));
    assert.equal((await server.stop()).code, 0);
    const isTold = async () => (await lines()).includes("STOPPING=1 STATUS=Finishing requests");
    await eventually("the program that tells it has run", isTold);
  });

  test("of several processes the first says so, once all of them serve", async () => {
    const database = await freshPostgres();
    const { environment, lines } = await fakeManager("several");
    const server = await startSignet([], {
      ...environment,
      SIGNET_DATA_DIR: path.join(folder, "shared"),
      DATABASE_URL: database.url,
      SIGNET_MASTER_KEY: TEST_MASTER_KEY,
      SIGNET_WORKERS: "2",
    });
    await eventually("it is told", async () => (await lines()).length > 0);
    assert.equal((await server.stop()).code, 0);
    await database.remove();
    await eventually("the stop is told too", async () => (await lines()).length >= 2);
    assert.deepEqual(await lines(), ["READY=1 STATUS=Serving", "STOPPING=1 STATUS=Finishing requests"]);
  });
});
