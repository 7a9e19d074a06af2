/** Traces of the program, received by a collector as OTLP over HTTP, on both databases. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { SigningPool } from "../../core/signing-pools/signing-pool.ts";
import type { Service } from "../../modules/open-service.ts";
import { runForJson, runProgram } from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { authorizationRequest, authorize, testBrowser } from "../../testing/fakes/browser.ts";
import { newAgentKey, presentedKey, testAgent } from "../../testing/fixtures/agent.ts";
import { postForm } from "../../testing/fixtures/client.ts";
import { type ReceivedSpan, readSpans } from "../../testing/otlp-spans.ts";
import { type StartedProgram, startSignet } from "../../testing/started-program.ts";
import type { DemoFile } from "../demo/demo-file.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT_SPAN = "00f067aa0ba902b7";

forEachDatabase(({ fresh }) => {
  const spans: ReceivedSpan[] = [];
  let bytes = "";
  let collector: Server;
  let folder: string;
  let server: StartedProgram;
  let demo: DemoFile;
  let databaseUrl: string;
  before(async () => {
    databaseUrl = await fresh();
    collector = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      assert.equal(request.url, "/v1/traces");
      assert.equal(request.headers["content-type"], "application/x-protobuf");
      const whole = Buffer.concat(chunks);
      const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(whole) : whole;
      bytes += body.toString("latin1");
      spans.push(...readSpans(body));
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => collector.once("listening", resolve));
    const { port } = collector.address() as { port: number };
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-traces-"));
    server = await startSignet(["--demo"], {
      SIGNET_DATA_DIR: folder,
      DATABASE_URL: databaseUrl,
      TRUSTED_PROXIES: "127.0.0.1,::1",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    });
    demo = JSON.parse(await readFile(path.join(folder, "demo.json"), "utf8")) as DemoFile;
  });
  after(async () => {
    server.kill();
    collector.closeAllConnections();
    collector.close();
    await rm(folder, { recursive: true, force: true });
  });

  const askToken = (headers: Record<string, string> = {}) => {
    const { clientId, clientSecret } = demo.serviceApp;
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    return postForm(`${demo.issuer}/token`, form, headers);
  };
  const ofTrace = (traceId: string) => spans.filter((span) => span.traceId === traceId);

  test("a token request is one trace: the proxy's, with the phases and statements under its request", async () => {
    assert.equal((await askToken({ traceparent: `00-${TRACE}-${PARENT_SPAN}-01` })).status, 200);
    await eventually("its spans have come", () =>
      ofTrace(TRACE).some(({ name }) => name.startsWith("POST ")),
    );
    const root = ofTrace(TRACE).find(({ name }) => name === "POST /oauth/:org/token");
    assert.equal(root?.parentSpanId, PARENT_SPAN);
    const names = new Set(ofTrace(TRACE).map(({ name }) => name));
    for (const name of ["client authentication", "grant", "sign", "grant release"])
      assert.ok(names.has(name), `${name} among ${[...names]}`);
    const inside = ofTrace(TRACE).filter((span) => span !== root);
    const ids = new Set(ofTrace(TRACE).map(({ spanId }) => spanId));
    for (const { name, parentSpanId } of inside) assert.ok(ids.has(parentSpanId), name);
  });

  test("the request's line has the trace, also when no proxy has begun one; statements are named by their function", async () => {
    const before = server.logLines().length;
    const { clientId, redirectUris } = demo.webApp;
    const { query } = authorizationRequest(clientId, redirectUris[0] ?? "");
    await authorize(testBrowser(), { issuer: demo.issuer, query, ...demo.user });
    const loginOf = () =>
      server
        .logLines()
        .slice(before)
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .find(({ route }) => route === "/oauth/:org/login");
    await eventually("the line is written", () => loginOf() !== undefined);
    const traceId = String(loginOf()?.["traceId"]);
    assert.match(traceId, /^[0-9a-f]{32}$/);
    await eventually("its spans have come", () =>
      ofTrace(traceId).some(({ name }) => name.startsWith("POST ")),
    );
    const names = ofTrace(traceId).map(({ name }) => name);
    assert.ok(names.includes("password queue wait"), names.join());
    assert.ok(
      names.some((name) => /^db \w[\w-]*\.\w+$/.test(name)),
      names.join(),
    );
  });

  test("no span has a value: no secret, address of a person, or text of a statement", () => {
    for (const secret of [
      demo.serviceApp.clientSecret,
      demo.user.password,
      demo.user.email,
      "select ",
      "eyJ",
    ])
      assert.ok(!bytes.includes(secret), secret);
    assert.ok(bytes.includes("deployment.environment.name") && bytes.includes("signet"));
  });

  test("a signature of an agent: the wait, the agent's part and the answer are one trace, which the agent is told", async () => {
    const { clientId, clientSecret, poolId } = demo.examples.sovereign;
    const orgId = demo.issuer.split("/").at(-1) ?? "";
    const key = newAgentKey("ES256");
    const service = { config: { baseUrl: server.baseUrl }, clock: Date.now } as Service;
    const keysFile = path.join(folder, "agent-keys.json");
    const keys = [presentedKey(service, { orgId, id: poolId } as SigningPool, key)];
    await writeFile(keysFile, JSON.stringify({ keys }));
    const args = [
      "agent",
      "register",
      "--org",
      orgId,
      "--pool",
      poolId,
      "--name",
      "traced",
      "--keys",
      keysFile,
    ];
    const { agentId, apiKey } = await runForJson<{ agentId: string; apiKey: string }>(args, {
      SIGNET_DATA_DIR: folder,
      DATABASE_URL: databaseUrl,
    });
    const agent = testAgent({ agentId, poolId, apiKey, keys: [key] }, demo.issuer);
    assert.equal(await agent.claim(), undefined, "seen from now on");
    const trace = "b".repeat(32);
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    const asked = postForm(`${demo.issuer}/token`, form, { traceparent: `00-${trace}-${PARENT_SPAN}-01` });
    const claimed = await agent.claim({ wait: 20 });
    assert.ok(claimed);
    assert.match(claimed.traceparent ?? "", new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
    assert.equal((await agent.sign(claimed)).status, 200);
    assert.equal((await asked).status, 200);
    const named = (name: string) => ofTrace(trace).find((span) => span.name === name);
    for (const name of ["signing queue wait", "agent", "POST /oauth/:org/token"])
      await eventually(`${name} has come`, () => named(name) !== undefined);
    // Below the span that has queued it.
    const ids = new Map(ofTrace(trace).map((span) => [span.spanId, span]));
    assert.equal(ids.get(named("agent")?.parentSpanId ?? "")?.name, "sign");
  });

  test("what is left is sent when the server stops", async () => {
    const last = "a".repeat(32);
    await askToken({ traceparent: `00-${last}-${PARENT_SPAN}-01` });
    await server.stop();
    assert.ok(ofTrace(last).length > 0);
  });
});

test("a collector that doesn't answer holds up neither requests nor the stop, and one that refuses is in the log", async () => {
  for (const status of [undefined, 400]) {
    const collector = createServer((_, response) => {
      if (status !== undefined) response.writeHead(status).end();
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => collector.once("listening", resolve));
    const { port } = collector.address() as { port: number };
    const folder = await mkdtemp(path.join(os.tmpdir(), "signet-traces-"));
    const server = await startSignet([], {
      SIGNET_DATA_DIR: folder,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: "100",
    });
    assert.equal((await fetch(`${server.baseUrl}/console`)).status < 500, true);
    if (status !== undefined)
      await eventually("the refusal is in the log", () => server.out().includes("sending traces failed"));
    const { code, milliseconds } = await server.stop();
    assert.equal(code, 0);
    assert.ok(milliseconds < 6_000, `${milliseconds} ms`);
    collector.closeAllConnections();
    collector.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test("the SDK is loaded by nothing but telemetry/otel.ts, and that only when it is asked for", async () => {
  const sources = path.join(import.meta.dirname, "../..");
  const loads =
    /^(?:import(?! type)|\} from|export .* from)[^;]*"(?:@opentelemetry\/|[^"]*telemetry\/otel\.ts"|\.\/otel\.ts")/m;
  const found: string[] = [];
  for (const name of await readdir(sources, { recursive: true }))
    if (name.endsWith(".ts") && loads.test(await readFile(path.join(sources, name), "utf8")))
      found.push(name);
  assert.deepEqual(found, [path.join("telemetry", "otel.ts")]);
});

test("an endpoint that is none is refused by its name", async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-traces-"));
  const env = { SIGNET_DATA_DIR: folder, OTEL_EXPORTER_OTLP_ENDPOINT: "nowhere" };
  const { code, err } = await runProgram(["start"], env);
  assert.notEqual(code, 0);
  assert.match(err, /OTEL_EXPORTER_OTLP_ENDPOINT must be/);
  await rm(folder, { recursive: true, force: true });
});
