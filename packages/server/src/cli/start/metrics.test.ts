/** Metrics of the program, on both databases, and of several workers as those of one service. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { runProgram } from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { authorizationRequest, authorize, testBrowser } from "../../testing/fakes/browser.ts";
import { postForm } from "../../testing/fixtures/client.ts";
import { freePort } from "../../testing/free-port.ts";
import { familyNames, scrape } from "../../testing/scrape.ts";
import { type StartedProgram, startSignet } from "../../testing/started-program.ts";
import type { DemoFile } from "../demo/demo-file.ts";

forEachDatabase(({ name, fresh }) => {
  const workers = name === "sqlite" ? 1 : 2;
  let folder: string;
  let server: StartedProgram;
  let demo: DemoFile;
  let port: number;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-metrics-"));
    port = await freePort();
    server = await startSignet(["--demo"], {
      SIGNET_DATA_DIR: folder,
      DATABASE_URL: await fresh(),
      SIGNET_WORKERS: String(workers),
      SIGNET_METRICS_PORT: String(port),
      SIGNET_METRICS_ORGANISATIONS: "top20",
    });
    await eventually("all workers are ready", () => /Signet is ready/.test(server.out()), 60_000);
    demo = JSON.parse(await readFile(path.join(folder, "demo.json"), "utf8")) as DemoFile;
  });
  after(async () => {
    server.kill();
    await rm(folder, { recursive: true, force: true });
  });

  /** Each on a connection of its own, which the workers take from one queue. */
  const ask = (secret = demo.serviceApp.clientSecret, grant = "client_credentials") => {
    const form = { grant_type: grant, client_id: demo.serviceApp.clientId, client_secret: secret };
    return postForm(`${demo.issuer}/token`, form, { connection: "close" });
  };
  const orgId = () => demo.issuer.split("/").at(-1) ?? "";

  test("every family is there, with its values", async () => {
    const asked = 12;
    for (let at = 0; at < asked; at++) assert.equal((await ask()).status, 200);
    await ask("wrong");
    await ask(demo.serviceApp.clientSecret, "made-up");
    const { clientId, redirectUris } = demo.webApp;
    const { query } = authorizationRequest(clientId, redirectUris[0] ?? "");
    await authorize(testBrowser(), { issuer: demo.issuer, query, ...demo.user });
    const seen = await scrape(port);
    const missing = familyNames.filter((one) => !seen.types.has(one));
    assert.deepEqual(missing, []);
    assert.equal(seen.sum("signet_token_requests_total", 'outcome="issued"'), asked);
    assert.equal(seen.sum("signet_token_requests_total", 'outcome="invalid_client"'), 1);
    assert.equal(
      seen.sum("signet_token_requests_total", 'grant="other",outcome="unsupported_grant_type"'),
      1,
    );
    const ofToken = 'method="POST",route="/oauth/:org/token"';
    assert.equal(
      seen.sum("signet_http_request_duration_seconds_count", `${ofToken},status_class="2xx"`),
      asked,
    );
    assert.equal(seen.sum("signet_sign_ins_total", 'method="password",outcome="success"'), 1);
    assert.ok(seen.sum("signet_password_queue_wait_seconds_count") >= 1);
    assert.ok(seen.sum("signet_cache_requests_total", 'outcome="hit"') > asked);
    assert.ok(seen.sum("signet_cache_requests_total", 'outcome="miss"') > 0);
    assert.ok(seen.sum("signet_database_acquire_seconds_count") > 0);
    assert.ok(seen.sum("signet_database_statement_seconds_count", 'function="') > 0);
    assert.ok(seen.sum("signet_database_connections") >= 1);
    assert.ok(seen.sum("signet_signing_key_age_seconds") > 0);
    assert.ok(seen.sum("signet_certificate_expiry_seconds", 'certificate="device-ca"') > 86_400);
    assert.ok(seen.sum("signet_organisation_requests_total", orgId()) >= asked);
    assert.ok(seen.text.includes('signet_signing_requests{state="pending"} 0'));
  });

  test("labels are bounded: patterns, and no user, client, address or query", async () => {
    const { text } = await scrape(port);
    for (const secret of [demo.serviceApp.clientId, demo.user.email, "127.0.0.1", "client_id="])
      assert.ok(!text.includes(secret), secret);
    const named = text.split("\n").filter((line) => line.includes(orgId()));
    for (const line of named) assert.match(line, /^signet_organisation_requests_total/);
  });

  test("no gauge is named as a counter", async () => {
    const { types } = await scrape(port);
    for (const [one, type] of types) if (one.endsWith("_total")) assert.equal(type, "counter", one);
  });

  test("the metrics listener has nothing else, and the main listener has no metrics", async () => {
    for (const [url, status] of [
      [`http://127.0.0.1:${port}/`, 404],
      [`http://127.0.0.1:${port}/livez`, 404],
      [`${server.baseUrl}/metrics`, 404],
    ] as const) {
      const answer = await fetch(url);
      await answer.body?.cancel();
      assert.equal(answer.status, status, url);
    }
    assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`, { method: "POST" })).status, 404);
  });

  if (workers > 1)
    test("counts of a worker that has died are not lost", async () => {
      const issued = async () => (await scrape(port)).sum("signet_token_requests_total", 'outcome="issued"');
      await Promise.all(Array.from({ length: 20 }, () => ask()));
      const before = await issued();
      const pids = await childrenOf(server.pid);
      assert.equal(pids.length, 2, "two workers");
      process.kill(pids[0] ?? 0, "SIGKILL");
      await eventually("another worker has started", async () => {
        const now = await childrenOf(server.pid);
        return now.length === 2 && !now.includes(pids[0] ?? 0);
      });
      assert.ok((await issued()) >= before);
      await eventually("it serves", async () => (await ask().catch(() => undefined))?.status === 200);
      assert.ok((await issued()) > before);
    });
});

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.trim().split(" ").filter(Boolean).map(Number);
}

test("settings of metrics that can't be meant are refused, each with its name", async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-metrics-"));
  const refused = async (env: Record<string, string>) => {
    const { code, err } = await runProgram(["start"], { SIGNET_DATA_DIR: folder, ...env });
    assert.notEqual(code, 0);
    return err;
  };
  assert.match(
    await refused({ SIGNET_METRICS_HOST: "0.0.0.0" }),
    /SIGNET_METRICS_HOST goes with SIGNET_METRICS_PORT/,
  );
  assert.match(
    await refused({ SIGNET_METRICS_PORT: "9464", SIGNET_METRICS_ORGANISATIONS: "all" }),
    /SIGNET_METRICS_ORGANISATIONS must be top20/,
  );
  assert.match(await refused({ SIGNET_METRICS_PORT: "8080" }), /SIGNET_METRICS_PORT must differ/);
  assert.doesNotMatch(await refused({ SIGNET_METRICS_PORT: "99999" }), /SIGNET_METRICS_PORT must differ/);
  await rm(folder, { recursive: true, force: true });
});
