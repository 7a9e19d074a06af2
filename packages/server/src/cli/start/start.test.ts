import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { runForJson, runProgram } from "../../testing/command-line.ts";
import { eventually } from "../../testing/eventually.ts";
import { authorizationRequest, authorize, testBrowser } from "../../testing/fakes/browser.ts";
import { postForm } from "../../testing/fixtures/client.ts";
import { callApi } from "../../testing/fixtures/system-account.ts";
import { type StartedProgram, startSignet } from "../../testing/started-program.ts";
import type { DemoFile } from "../demo/demo-file.ts";

let folder: string;
const running: StartedProgram[] = [];
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-start-"));
});
after(async () => {
  for (const server of running) server.kill();
  await rm(folder, { recursive: true, force: true });
});

async function start(name: string, options: string[] = [], more: Record<string, string> = {}) {
  const env = { SIGNET_DATA_DIR: path.join(folder, name), ...more };
  const server = await startSignet(options, env);
  running.push(server);
  return { server, dataDir: env.SIGNET_DATA_DIR };
}

const readDemo = async (dataDir: string) =>
  JSON.parse(await readFile(path.join(dataDir, "demo.json"), "utf8")) as DemoFile;

/** The names of all members, with those of objects inside behind a dot. */
const members = (value: object, prefix = ""): string[] =>
  Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? members(inner, `${prefix}${name}.`)
      : [prefix + name],
  );

const clientCredentials = ({ serviceApp }: Pick<DemoFile, "serviceApp">) => ({
  grant_type: "client_credentials",
  client_id: serviceApp.clientId,
  client_secret: serviceApp.clientSecret,
});

describe("signet start --demo on an empty folder", () => {
  let server: StartedProgram;
  let dataDir: string;
  let demo: DemoFile;
  /** Whatever was ever a credential here: none of it may be logged. */
  const credentials = new Set<string>();

  before(async () => {
    ({ server, dataDir } = await start("demo", ["--demo"], {
      LOG_LEVEL: "trace",
      SIGNET_SLOW_QUERY_MS: "0",
    }));
    demo = await readDemo(dataDir);
    for (const person of [demo.admin, demo.user, demo.otherOrg.admin]) credentials.add(person.password);
    const { webApp, worker, sovereign } = demo.examples;
    for (const app of [
      demo.webApp,
      demo.serviceApp,
      demo.otherOrg.serviceApp,
      ...[webApp, worker, sovereign],
    ])
      credentials.add(app.clientSecret);
    for (const { secretKey } of [demo.systemAccount, demo.administratorAccount]) credentials.add(secretKey);
  });

  test("answers /livez, /healthz and /readyz", async (t) => {
    t.diagnostic(`ready after ${Math.round(server.readyMs)} ms`);
    for (const [route, body] of [
      ["livez", { status: "ok" }],
      ["healthz", { status: "ok" }],
      ["readyz", { status: "ready", database: "ok" }],
      ["readyz?require=database", { status: "ready", database: "ok" }],
    ] as const) {
      const answer = await fetch(`${server.baseUrl}/${route}`);
      assert.equal(answer.status, 200);
      assert.deepEqual(await answer.json(), body);
    }
  });

  test("writes demo.json with the documented members, readable by its owner only", async () => {
    assert.equal((await stat(path.join(dataDir, "demo.json"))).mode & 0o777, 0o600);
    assert.equal((await stat(path.join(dataDir, "master.key"))).mode & 0o777, 0o600);
    assert.equal((await stat(dataDir)).mode & 0o777, 0o700);
    const note = JSON.parse(await readFile(path.join(dataDir, "server.json"), "utf8")) as unknown;
    assert.deepEqual(note, { baseUrl: server.baseUrl, demo: true });
    assert.deepEqual(
      members(demo).sort(),
      [
        ...["baseUrl", "org", "issuer", "admin.email", "admin.password", "user.email", "user.password"],
        ...["webApp.clientId", "webApp.clientSecret", "webApp.redirectUris", "webApp.returnUrls"],
        ...["nativeApp.clientId", "nativeApp.redirectUris", "spaApp.clientId", "spaApp.redirectUris"],
        ...["serviceApp.clientId", "serviceApp.clientSecret", "otherOrg.org", "otherOrg.issuer"],
        ...["otherOrg.admin.email", "otherOrg.admin.password"],
        ...["otherOrg.serviceApp.clientId", "otherOrg.serviceApp.clientSecret"],
        ...["systemAccount", "administratorAccount", "otherOrg.administratorAccount"].flatMap((account) =>
          ["id", "applicationId", "publicKey", "secretKey"].map((member) => `${account}.${member}`),
        ),
        ...["webApp", "legacyApp", "notesApp", "worker", "sovereign", "saas"].map(
          (app) => `examples.${app}.clientId`,
        ),
        ...["webApp", "worker", "sovereign", "saas"].map((app) => `examples.${app}.clientSecret`),
        ...["webApp", "legacyApp", "notesApp", "sovereign", "saas"].map((app) => `examples.${app}.address`),
        ...["examples.notesApp.audience", "examples.sovereign.poolId"],
      ].sort(),
    );
    assert.equal(demo.baseUrl, server.baseUrl);
    assert.equal(demo.issuer, `${server.baseUrl}/oauth/${demo.org}`);
    assert.equal(demo.otherOrg.issuer, `${server.baseUrl}/oauth/${demo.otherOrg.org}`);
    assert.ok(demo.webApp.redirectUris.includes("http://127.0.0.1:8765/callback"));
    assert.deepEqual(demo.webApp.returnUrls, ["http://127.0.0.1:8765/"]);
    assert.deepEqual(demo.nativeApp.redirectUris, ["http://127.0.0.1/callback"]);
  });

  test("prints the sign-in URL, the users, and a curl command that returns a token", async () => {
    const printed = server.out();
    assert.ok(printed.includes(`${server.baseUrl}/demo/try`));
    for (const { email, password } of [demo.admin, demo.user])
      assert.match(printed, new RegExp(`${email} +${password}`));
    assert.ok(printed.includes(path.join(dataDir, "demo.json")));
    const line = printed.split("\n").find((one) => one.trim().startsWith("curl ")) ?? "";
    const { stdout } = await promisify(execFile)("bash", ["-c", line]);
    const answer = JSON.parse(stdout) as Record<string, unknown>;
    assert.equal(answer["token_type"], "Bearer");
    assert.match(String(answer["access_token"]), /^[\w-]+\.[\w-]+\.[\w-]+$/);
    credentials.add(String(answer["access_token"]));
  });

  test("prints shell commands that make signed calls with curl and openssl", async () => {
    const lines = server.out().split("\n");
    const signed = lines.filter((line) => line.includes("openssl dgst"));
    const [asProgram = "", asAdministrator = ""] = signed;
    assert.equal(signed.length, 2);
    const run = async (line: string) =>
      JSON.parse((await promisify(execFile)("sh", ["-c", line])).stdout) as Record<string, unknown>;
    assert.equal((await run(asProgram))["Email"], demo.user.email);
    const { items } = (await run(asAdministrator)) as { items: { clientId: string }[] };
    assert.ok(items.some(({ clientId }) => clientId === demo.webApp.clientId));
    assert.equal((await run(asProgram.replace(/user@demo/, "USER@demo")))["Email"], demo.user.email);
    assert.equal((await run(asProgram.replace("'; curl", " '; curl")))["Email"], demo.user.email);
    const forged = asProgram.replace(`-d "$BODY"`, `-d "$BODY "`);
    assert.equal((await run(forged))["type"], "urn:signet:error:not-authenticated");
  });

  test("issues tokens to every demo application", async () => {
    for (const [app, redirectUri, secret] of [
      [demo.webApp, "http://127.0.0.1:8765/callback", { client_secret: demo.webApp.clientSecret }],
      [demo.nativeApp, "http://127.0.0.1:49152/callback", {}],
      [demo.spaApp, demo.spaApp.redirectUris[0] ?? "", {}],
    ] as const) {
      const scope = "openid profile email phone offline_access";
      const { query, verifier } = authorizationRequest(app.clientId, redirectUri, { scope });
      const browser = testBrowser();
      const code = (await authorize(browser, { issuer: demo.issuer, query, ...demo.user })).get("code") ?? "";
      const form = {
        grant_type: "authorization_code",
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      };
      const { status, body } = await postForm(`${demo.issuer}/token`, {
        ...form,
        client_id: app.clientId,
        ...secret,
      });
      assert.equal(status, 200);
      assert.equal(body["scope"], scope);
      const tokens = ["access_token", "refresh_token", "id_token"].map((name) => String(body[name]));
      for (const credential of [code, verifier, ...tokens, ...browser.cookies.values()])
        credentials.add(credential);
    }
  });

  test("never logs a credential", async () => {
    const [secret = "", token = ""] = [demo.serviceApp.clientSecret, [...credentials].at(-1)];
    const paths = [
      `/oauth/${demo.org}/authorize?code=${token}&client_id=${demo.webApp.clientId}&redirect_uri=${token}`,
      `/oauth/${demo.org}/authorize?client_secret=${secret}&client_secret=${secret}`,
      `/oauth/${demo.org}/end_session?id_token_hint=${token}&state=${secret}`,
      `/oauth/${secret}/token/${token}`,
      `/${token}?access_token=${token}#${secret}`,
      `/oauth/${demo.org}/userinfo?access_token=${token}`,
      `/%ff${secret}`,
    ];
    for (const one of paths) await fetch(`${server.baseUrl}${one}`, { redirect: "manual" });
    const basic = `Basic ${Buffer.from(`${demo.serviceApp.clientId}:${secret}x`).toString("base64")}`;
    credentials.add(basic.slice("Basic ".length));
    const posts: Array<[string, RequestInit]> = [
      ["token", { body: new URLSearchParams({ ...clientCredentials(demo), client_secret: `${secret}x` }) }],
      ["token", { body: new URLSearchParams({ ...clientCredentials(demo), scope: secret }) }],
      [
        "token",
        { body: new URLSearchParams({ grant_type: "authorization_code", code: token, client_id: secret }) },
      ],
      [
        "token",
        {
          body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: token, client_id: token }),
        },
      ],
      ["token", { headers: { authorization: basic }, body: new URLSearchParams({ grant_type: secret }) }],
      ["token", { body: `{"client_secret":"${secret}"`, headers: { "content-type": "application/json" } }],
      ["token", { body: new URLSearchParams({ client_secret: secret.repeat(2_000) }) }],
      ["introspect", { headers: { authorization: basic }, body: new URLSearchParams({ token }) }],
      [
        "revoke",
        { body: new URLSearchParams({ token, client_id: demo.webApp.clientId, client_secret: secret }) },
      ],
      ["userinfo", { headers: { authorization: `Bearer ${token}x` } }],
      [
        "login",
        {
          body: new URLSearchParams({
            csrf: token,
            flow: token,
            email: secret,
            password: demo.user.password,
          }),
        },
      ],
      ["authorize", { body: new URLSearchParams({ csrf: token, flow: token, decision: secret }) }],
    ];
    for (const [route, init] of posts)
      await fetch(`${demo.issuer}/${route}`, { method: "POST", redirect: "manual", ...init });
    // The log is written in pieces: this one is the last, and the only one of its method.
    await fetch(`${server.baseUrl}/healthz`, { method: "PUT" });
    const isWritten = () => server.logLines().some((line) => line.includes('"method":"PUT"'));
    await eventually("the log is written", isWritten);

    const lines = server.logLines();
    assert.ok(lines.length > 30, `${lines.length} lines`);
    assert.ok(credentials.size > 15);
    for (const line of lines) {
      assert.doesNotThrow(() => JSON.parse(line), line);
      for (const credential of credentials) assert.ok(!line.includes(credential), line);
      assert.doesNotMatch(line, /sgn_[a-z]{2}_/);
    }
    assert.equal(server.err(), "");
  });

  test("logs each request with id, whose it was, method, route pattern, status and duration", () => {
    const requests = server
      .logLines()
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === "request");
    for (const line of requests) {
      const { orgId: _, clientId: __, ...always } = line;
      assert.deepEqual(Object.keys(always).sort(), [
        "address",
        "durationMs",
        "level",
        "method",
        "msg",
        "requestId",
        "route",
        "service",
        "status",
        "time",
      ]);
    }
    const { issuer, serviceApp } = demo;
    const issued = requests.find(({ route, status }) => route === "/oauth/:org/token" && status === 200);
    assert.ok(issued);
    assert.equal(issued["orgId"], issuer.split("/").at(-1));
    assert.equal(issued["clientId"], serviceApp.clientId);
    assert.match(String(issued["address"]), /^(::1|(::ffff:)?127\.0\.0\.1)$/);
    assert.equal(new Set(requests.map(({ requestId }) => requestId)).size, requests.length);
    const shown = requests.map(({ method, route, status }) => `${method} ${route} ${status}`);
    assert.ok(shown.includes("POST /oauth/:org/token 200"));
    assert.ok(shown.includes("POST /oauth/:org/token 401"));
    assert.ok(shown.includes("GET (none) 404"));
  });

  test("logs slow statements by the function of the store, without a value", () => {
    const slow = server
      .logLines()
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === "slow statement");
    for (const { requestId: _, ...line } of slow)
      assert.deepEqual(Object.keys(line).sort(), [
        "durationMs",
        "function",
        "level",
        "msg",
        "service",
        "time",
      ]);
    const names = new Set(slow.map((line) => String(line["function"])));
    for (const name of ["applications.findRow", "organisations.findOrganisation", "commit"])
      assert.ok(names.has(name), `${name} among ${[...names]}`);
    const ofRequest = slow.find(({ requestId }) => requestId !== undefined);
    assert.ok(server.logLines().some((line) => line.includes(`"requestId":"${ofRequest?.["requestId"]}"`)));
  });

  test("keeps the demo on a second start, on another port too, and adds what an older one lacks", async () => {
    assert.deepEqual(await server.stop("SIGINT").then(({ code, signal }) => [code, signal]), [0, null]);
    const older = { ...demo, systemAccount: undefined, examples: undefined };
    await writeFile(path.join(dataDir, "demo.json"), JSON.stringify(older), { mode: 0o600 });
    const again = await start("demo", ["--demo"]);
    const kept = await readDemo(dataDir);
    const { systemAccount, examples } = kept;
    assert.notEqual(systemAccount.publicKey, demo.systemAccount.publicKey);
    const account = { publicKey: systemAccount.publicKey, secret: systemAccount.secretKey };
    const body = { email: demo.user.email };
    assert.equal((await callApi(`${kept.baseUrl}/legacy/api/users/get`, account, { body })).status, 200);
    const { worker } = examples;
    assert.notEqual(worker.clientId, demo.examples.worker.clientId);
    const asWorker = { ...clientCredentials({ serviceApp: worker }), scope: "notes:read" };
    assert.equal((await postForm(`${kept.issuer}/token`, asWorker)).body["scope"], "notes:read");
    assert.equal(kept.baseUrl, again.server.baseUrl);
    const moved = (issuer: string) => issuer.replace(server.baseUrl, again.server.baseUrl);
    const otherOrg = { ...demo.otherOrg, issuer: moved(demo.otherOrg.issuer) };
    assert.deepEqual(kept, {
      ...demo,
      baseUrl: kept.baseUrl,
      issuer: moved(demo.issuer),
      systemAccount,
      examples,
      otherOrg,
    });
    assert.equal((await stat(path.join(dataDir, "demo.json"))).mode & 0o777, 0o600);
    assert.equal((await postForm(`${kept.issuer}/token`, clientCredentials(kept))).status, 200);
    const { items } = await runForJson<{ items: unknown[] }>(["org", "list"], { SIGNET_DATA_DIR: dataDir });
    assert.equal(items.length, 2);
    assert.equal((await again.server.stop()).code, 0);
  });
});

describe("signet start that fails", () => {
  test("names every configuration error at once, exits with 1, and creates nothing", async () => {
    const env = {
      SIGNET_DATA_DIR: path.join(folder, "faulty"),
      PORT: "eighty",
      SIGNET_BASE_URL: "http://id.example",
      SIGNET_MASTER_KEY: "short",
      LOG_LEVEL: "loud",
    };
    const { code, out, err } = await runProgram(["start", "--demo"], env);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, /4 faults/);
    for (const name of ["PORT", "SIGNET_BASE_URL", "SIGNET_MASTER_KEY", "LOG_LEVEL"])
      assert.match(err, new RegExp(`^ {2}- ${name} must`, "m"));
    assert.ok(!(await readdir(folder)).includes("faulty"));
  });

  test("reports a port in use", async (t) => {
    const other = createServer().listen(0, "localhost");
    await once(other, "listening");
    t.after(() => other.close());
    const address = other.address();
    assert.ok(address !== null && typeof address === "object");
    const env = { SIGNET_DATA_DIR: path.join(folder, "taken"), PORT: String(address.port) };
    const { code, err } = await runProgram(["start"], env);
    assert.equal(code, 1);
    assert.match(err, /^signet start: .*EADDRINUSE/m);
  });

  test("runs without demo data on a database with other organisations", async () => {
    const dataDir = path.join(folder, "own");
    await mkdir(dataDir, { mode: 0o700 });
    await runForJson(["org", "create", "--name", "Acme"], { SIGNET_DATA_DIR: dataDir });
    const { server } = await start("own", ["--demo"]);
    await eventually("it says so", () => server.out().includes("No demo data was added"));
    assert.ok(!(await readdir(dataDir)).includes("demo.json"));
    assert.equal((await fetch(`${server.baseUrl}/demo/try`, { redirect: "manual" })).status, 404);
    assert.equal((await server.stop()).code, 0);
  });
});
