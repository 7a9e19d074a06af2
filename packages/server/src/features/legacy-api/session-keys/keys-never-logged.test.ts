// Session keys stand in paths and queries (specification, "Legacy API"): no line of the log may hold one, whatever
// becomes of the request. A new route with a key in its path is tried without being listed here.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import type { DemoFile } from "../../../cli/demo/demo-file.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { follow } from "../../../testing/fixtures/visit.ts";
import { listRoutes } from "../../../testing/list-routes.ts";
import { type StartedProgram, startSignet } from "../../../testing/started-program.ts";

let folder: string;
let server: StartedProgram;
let demo: DemoFile;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "signet-keys-"));
  server = await startSignet(["--demo"], { SIGNET_DATA_DIR: folder, LOG_LEVEL: "trace" });
  demo = JSON.parse(await readFile(join(folder, "demo.json"), "utf8")) as DemoFile;
});
after(async () => {
  server.kill();
  await rm(folder, { recursive: true, force: true });
});

async function newKey(): Promise<string> {
  const browser = testBrowser();
  const [returnUrl = ""] = demo.webApp.returnUrls;
  const query = new URLSearchParams({ appId: demo.webApp.clientId, returnUrl });
  const page = await follow(browser, await browser.get(`${server.baseUrl}/federation/Login?${query}`));
  const { email, password } = demo.user;
  const back = await follow(
    browser,
    await browser.post(`${demo.issuer}/login`, { ...page.hidden, email, password }),
  );
  return new URL(back.location ?? "").searchParams.get("service_key") ?? "";
}

const routesWithKeys = (await listRoutes()).filter(
  ({ path }) => path.startsWith("/legacy/") && (path.includes(":key") || path.endsWith("/validate")),
);

/** Every address that may hold a key, right ones and wrong ones, and a key where none belongs. */
function addressesOf(key: string): Array<{ method: string; url: string }> {
  const rightful = routesWithKeys.map(({ method, path }) => ({
    method,
    url: path
      .replace(/:key\??/, key)
      .replace(/:appId/, demo.webApp.clientId)
      .replaceAll(/\/:\w+\?/g, ""),
  }));
  const validate = `/legacy/api/auth/validate?key=${key}`;
  const wrong = [
    ...[validate, `${validate}&x=1`, `${validate}&key=${key}`, `${validate}%zz`, `/legacy/api/auth/${key}`],
    ...[`/legacy/api/Keys/User/${key}/x`, `/legacy/api/Keys/${key}`, `/legacy/api/Keys/User/${key}%`],
    ...[`/legacy/api/Keys/User/${"x".repeat(300)}${key}`, `/%zz${key}`, `/healthz?key=${key}`, `/${key}`],
    `/federation/Login?appId=${key}&returnUrl=https://x.example/?service_key=${key}`,
    `/oauth/${key}/authorize?service_key=${key}`,
    `/docs?key=${key}`,
  ];
  return [...rightful, ...wrong.map((url) => ({ method: "GET", url }))];
}

const statuses = new Set<number>();
async function ask(method: string, url: string, key: string, more: RequestInit = {}): Promise<void> {
  const referer = `${demo.webApp.returnUrls[0]}?service_key=${key}`;
  for (const accept of ["application/json", "text/html"]) {
    const headers = { referer, accept, "user-agent": key, ...more.headers };
    const answer = await fetch(`${server.baseUrl}${url}`, { method, redirect: "manual", ...more, headers });
    const text = await answer.text();
    statuses.add(answer.status);
    assert.ok(
      !text.includes(key),
      `${method} ${url.replace(key, "KEY")} shows its key: ${text.slice(0, 200)}`,
    );
  }
}

async function tryEverything(key: string): Promise<void> {
  for (const { method, url } of addressesOf(key)) await ask(method, url, key);
  const logout = "/legacy/api/Authentication/User/Logout/";
  const type = { "content-type": "application/json" };
  for (const body of [`{"Key":"${key}"`, `{"Key":"${key}","x":1}`, `{"x":"${key}"}`, `"${key}"`])
    await ask("POST", logout, key, { body, headers: type });
  await ask("POST", logout, key, { body: `Key=${key}`, headers: { "content-type": "text/plain" } });
  await ask("GET", `/legacy/api/auth/validate?key=${key}`, key, {
    headers: { authorization: `Bearer ${key}` },
  });
  await ask("GET", `/legacy/api/Keys/User/${key}`, key, { headers: { authorization: `${key}:${key}` } });
}

test("good, refused, malformed and failing calls leave no key in the log", async () => {
  assert.ok(routesWithKeys.length >= 5);
  const key = await newKey();
  await tryEverything(key);
  for (const status of [200, 400, 401, 404, 415, 422]) assert.ok(statuses.has(status), `${status} was tried`);
  // From now on every look-up of a key fails with an error that is logged.
  const file = new DatabaseSync(join(folder, "signet.db"));
  file.exec("alter table session_key rename to session_key_away");
  file.close();
  await tryEverything(key);
  assert.ok(statuses.has(500), "an internal error was tried");
  await server.stop();
  const text = server.out() + server.err();
  const lines = server.logLines();
  assert.ok(lines.some((line) => line.includes("request failed") && line.includes("session_key")));
  assert.ok(lines.some((line) => line.includes('"route":"/legacy/api/Keys/User/:key"')));
  assert.ok(lines.some((line) => line.includes("request refused")));
  const inner = key.slice("sgn_sk_".length);
  for (const line of text.split("\n")) {
    assert.ok(!line.includes(inner) && !line.includes("sgn_sk_"), line.replaceAll(inner, "THE KEY"));
    assert.ok(!line.includes("service_key="), line);
  }
});
