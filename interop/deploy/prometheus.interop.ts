/** Prometheus' own tool on what the service tells, and on the alert rules. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { missingProgram, systemPath } from "../../e2e/support/programs.ts";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { postForm } from "../../packages/server/src/testing/fixtures/client.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { scrape } from "../../packages/server/src/testing/scrape.ts";
import { type StartedProgram, startSignet } from "../../packages/server/src/testing/started-program.ts";

const rules = path.join(import.meta.dirname, "..", "..", "deploy", "prometheus");
const skip = missingProgram("promtool", ["--version"]);

function promtool(parameters: readonly string[], input = "", cwd = rules): string {
  const { status, stdout, stderr } = spawnSync("promtool", parameters, {
    cwd,
    input,
    encoding: "utf8",
    env: { ...process.env, PATH: systemPath() },
  });
  const said = `${stdout}${stderr}`;
  assert.equal(status, 0, said);
  return said;
}

describe("promtool", { skip }, () => {
  let folder: string;
  let server: StartedProgram;
  let port: number;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-promtool-"));
    port = await freePort();
    const env = { SIGNET_METRICS_PORT: String(port), SIGNET_METRICS_ORGANISATIONS: "top20" };
    server = await startSignet(["--demo"], { SIGNET_DATA_DIR: folder, ...env });
  });
  after(async () => {
    server.kill();
    await rm(folder, { recursive: true, force: true });
  });

  test("finds nothing wrong with the metrics of a service that has served", async () => {
    const demo = JSON.parse(await readFile(path.join(folder, "demo.json"), "utf8")) as DemoFile;
    const { clientId, clientSecret } = demo.serviceApp;
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    assert.equal((await postForm(`${demo.issuer}/token`, form)).status, 200);
    const { text } = await scrape(port);
    assert.ok(text.includes("signet_token_requests_total{"));
    assert.equal(promtool(["check", "metrics"], text), "");
  });

  test("finds the rules valid, and each fires when it should and not else", () => {
    assert.match(promtool(["check", "rules", "alerts.yaml"]), /SUCCESS/);
    assert.match(promtool(["test", "rules", "alerts.test.yaml"]), /SUCCESS/);
  });
});
