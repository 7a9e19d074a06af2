// What a clone serves is packed by npm; a built server's files are served by e2e/sdk/package.test.ts.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { version } from "../../config/version.ts";
import { programAddress, programs } from "../../page-kit/program-address.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { startTestService, type TestService } from "../../testing/test-service.ts";
import { programFiles } from "./program-files.ts";

forEachDatabase(({ name, fresh }) => {
  // No file comes from the database.
  if (name !== "sqlite") return;
  let running: TestService;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
  });
  after(() => running.close());

  test("each program is served as a package that npm can install", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "signet-test-downloads-"));
    try {
      for (const program of programs) {
        const address = programAddress(program, { baseUrl: running.baseUrl, version });
        const response = await fetch(address);
        assert.equal(response.status, 200, program);
        assert.equal(response.headers.get("content-type"), "application/gzip");
        assert.equal(response.headers.get("cache-control"), "no-cache", "a clone's sources may change");
        const file = path.join(folder, `${program}.tgz`);
        await writeFile(file, Buffer.from(await response.arrayBuffer()));
        const list = (await promisify(execFile)("tar", ["tzf", file])).stdout.split("\n");
        // Programs are run, and have nothing to import.
        const isProgram = program === "signing-agent" || program === "device-client";
        const entries = isProgram ? ["main.js"] : ["index.js", "index.d.ts"];
        for (const part of [...entries, "package.json", "LICENSE"])
          assert.ok(list.includes(`package/${part}`), `${program}: ${part}`);
        assert.deepEqual(
          list.filter((one) => /(?<!\.d)\.ts$|\.test\./.test(one)),
          [],
        );
        const headers = { "if-none-match": response.headers.get("etag") ?? "" };
        assert.equal((await fetch(address, { headers })).status, 304);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("no other file is served", async () => {
    for (const file of ["signet-server-0.1.0.tgz", "..%2F..%2Fpackage.json", `signet-client-sdk-9.9.9.tgz`])
      assert.equal((await fetch(`${running.baseUrl}/downloads/${file}`)).status, 404, file);
  });
});

test("files are packed once for all requests, and after a failure not again before a minute", async () => {
  let now = 0;
  let packed = 0;
  const files = programFiles(
    ["a.tgz"],
    () => now,
    async () => {
      packed += 1;
      throw new Error("no compiler");
    },
  );
  await Promise.all([assert.rejects(files.read("a.tgz")), assert.rejects(files.read("a.tgz"))]);
  now = 60_000;
  await assert.rejects(files.read("a.tgz"), /no compiler/);
  assert.equal(packed, 1);
  now = 60_001;
  await assert.rejects(files.read("a.tgz"), /no compiler/);
  assert.equal(packed, 2);
});
