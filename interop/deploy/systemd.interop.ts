/** deploy/systemd/signet.service: its sandbox by systemd's own measure, and its notifications by systemd's own program. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { guardProcess } from "../../e2e/support/process-guard.ts";
import { missingProgram } from "../../e2e/support/programs.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { type StartedProgram, startSignet } from "../../packages/server/src/testing/started-program.ts";
import { repositoryRoot } from "../../scripts/source-files.ts";

const unit = path.join(repositoryRoot, "deploy", "systemd", "signet.service");

describe("the unit", { skip: missingProgram("systemd-analyze", ["--version"]) }, () => {
  test("its sandbox is rated 2.0 or better", () => {
    const rated = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=20", unit], {
      encoding: "utf8",
    });
    assert.match(rated.stdout, /Overall exposure level for signet\.service: [01]\.\d OK/);
    assert.equal(rated.status, 0);
  });

  test("systemd understands every line of it", async (t) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), "signet-unit-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    // Whether the program is installed is the machine's matter.
    const text = (await readFile(unit, "utf8")).replace("ExecStart=signet start", "ExecStart=/bin/true");
    const verify = async (content: string) => {
      const file = path.join(folder, "signet.service");
      await writeFile(file, content);
      const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", file], {
        encoding: "utf8",
      });
      return {
        status,
        stderr: stderr
          .split("\n")
          .filter((line) => line.includes("signet.service"))
          .join("\n"),
      };
    };
    assert.deepEqual(await verify(text), { status: 0, stderr: "" });
    const { stderr } = await verify(text.replace("ProtectHome=", "ProtectHomes="));
    assert.match(stderr, /Unknown key .*ProtectHomes/);
  });
});

// Node has no datagram sockets of a path: Python stands in for systemd.
const manager = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("listening", flush=True)
while True:
    print(s.recv(4096).decode().replace("\\n", " "), flush=True)
`;

describe("Type=notify", { skip: missingProgram("systemd-notify", ["--version"]) }, () => {
  let folder: string;
  let listener: ChildProcess;
  let heard = "";
  let server: StartedProgram;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-notify-"));
    const socket = path.join(folder, "notify");
    listener = spawn("python3", ["-c", manager, socket], { stdio: ["ignore", "pipe", "inherit"] });
    guardProcess(listener);
    listener.stdout?.on("data", (text: Buffer) => {
      heard += text;
    });
    await eventually("somebody listens", () => heard.includes("listening"));
    server = await startSignet([], {
      SIGNET_DATA_DIR: path.join(folder, "data"),
      NOTIFY_SOCKET: socket,
      WATCHDOG_USEC: "400000",
    });
  });
  after(async () => {
    server.kill();
    listener.kill();
    await once(listener, "exit");
    await rm(folder, { recursive: true, force: true });
  });
  const beats = () => heard.split("WATCHDOG=1").length - 1;

  test("says that it serves, that it lives, nothing while it stands still, and that it stops", async () => {
    await eventually("it serves", () => heard.includes("READY=1 STATUS=Serving"));
    await eventually("it lives", () => beats() >= 2);
    process.kill(server.pid, "SIGSTOP");
    // What it had said before.
    await pause(500);
    const before = beats();
    await pause(1_500);
    assert.equal(beats(), before);
    process.kill(server.pid, "SIGCONT");
    await eventually("it lives again", () => beats() > before);
    assert.equal((await server.stop()).code, 0);
    await eventually("it stops", () => heard.includes("STOPPING=1"));
  });
});

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
