// What the quickstart shows is copied from its pages and run as it stands.
import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { version } from "../../../config/version.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { eventually } from "../../../testing/eventually.ts";
import { type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { decide, follow, logIn, showsConsent } from "../../../testing/fixtures/visit.ts";
import { freePort } from "../../../testing/free-port.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  textOf,
} from "../../../testing/probes/console-browser.ts";
import { type QuickstartProgram, quickstartProgram, snippetOf } from "../../../testing/shown-program.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

const ENV = { ".env": "env-file" };

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let console: ConsoleBrowser;
  const programs: QuickstartProgram[] = [];
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    console = await consoleBrowser(running, org);
  });
  after(async () => {
    await Promise.all(programs.map((program) => program.remove()));
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  /** The page with the code, after the form. */
  async function begin(kind: string, address?: string): Promise<TestPage> {
    const typed = { name: `My ${kind}`, ...(address === undefined ? {} : { address }) };
    return follow(console.browser, await console.send(`/quickstart/new?for=${kind}`, typed));
  }
  async function shown(page: TestPage, files: Record<string, string>): Promise<QuickstartProgram> {
    const program = await quickstartProgram(page, files);
    programs.push(program);
    return program;
  }
  const waiting = async (page: TestPage) =>
    (await console.get(`/quickstart/${textOf(page, "client-id")}/waiting`)).body;

  /** Goes the whole way of a person, from an authorization request to the address that it comes back to. */
  async function signIn(url: string): Promise<string> {
    const browser = testBrowser();
    let page = await logIn(browser, org, await follow(browser, await browser.get(url)));
    if (showsConsent(page)) page = await decide(browser, org, page);
    if (page.location === undefined) throw new Error(page.body.slice(0, 500));
    return page.location;
  }

  const cookies = new Map<string, string>();
  /** As an address is opened: `fetch` would say that it is a script. */
  async function open(url: string): Promise<{ location: string | undefined; body: string }> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const asked = get(url, { headers: { accept: "text/html", ...(cookie === "" ? {} : { cookie }) } });
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    for (const line of answer.headers["set-cookie"] ?? []) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const { location } = answer.headers;
    return { location: location && new URL(location, url).href, body: await text(answer) };
  }

  test("web application: the program runs with the file, a user signs in, and the page shows it", async () => {
    const address = `http://localhost:${await freePort()}`;
    const page = await begin("web", address);
    assert.match(await waiting(page), /data-says="Waiting for the first sign-in"/);
    // It is said in a place that stays; and who made the application stands below.
    assert.match(page.body, /id="live-status" role="status"/);
    assert.match(page.body, new RegExp(`id="last-change">Last changed by ${org.administrator.email}`));
    const program = await shown(page, { ...ENV, "app.mjs": "fastify-code" });
    const app = program.start(["--env-file=.env", "app.mjs"]);
    try {
      const opened = () => open(`${address}/`).catch(() => undefined);
      await eventually("the application listens", async () => (await opened()) !== undefined, 30_000);
      const back = await signIn((await open(`${address}/`)).location ?? "");
      const home = (await open(back)).location ?? "";
      const { body } = await open(home);
      assert.equal((JSON.parse(body) as { email: string }).email, org.user.email, app.output());
    } finally {
      await app.stop();
    }
    const green = await waiting(page);
    assert.match(green, /live-panel done"[^>]*data-says="Your application works"/);
    assert.ok(green.includes(org.user.email));
    assert.ok(green.includes("/quickstart/token-inspector"));
  });

  test("shows the secret only on the page that created it", async () => {
    const page = await begin("web");
    const secret = /SIGNET_OAUTH_CLIENT_SECRET=(sgn_cs_[\w-]+)/.exec(snippetOf(page, "env-file"))?.[1] ?? "";
    assert.notEqual(secret, "");
    const later = await console.get(`/quickstart/${textOf(page, "client-id")}`);
    assert.ok(!later.body.includes(secret));
    assert.match(snippetOf(later, "env-file"), /^# Shown only once.*\/secrets\/new$/m);
    assert.match(snippetOf(later, "env-file"), /^SIGNET_OAUTH_CLIENT_SECRET=$/m);
  });

  test("legacy application: programs of the legacy clients, with the same file", async () => {
    const address = `http://localhost:${await freePort()}`;
    const page = await begin("legacy", address);
    const files = { "hono.mjs": "hono-code", "web.mjs": "web-code", "express.mjs": "express-code" };
    // Bun and Deno serve what a module exports; here it is asked as they would.
    const ask = `=const { fetch: hono } = (await import("./hono.mjs")).default;
const { fetch: web } = (await import("./web.mjs")).default;
await import("./express.mjs");
const request = () => new Request("${address}/", { headers: { accept: "text/html" }, redirect: "manual" });
for (const answer of [await hono(request()), await web(request())])
  console.log(answer.status, new URL(answer.headers.get("location")).pathname);
const { get } = await import("node:http");
get("${address}/", { headers: { accept: "text/html" } }, (answer) => {
  console.log(answer.statusCode, new URL(answer.headers.location).pathname);
  process.exit();
});`;
    const program = await shown(page, { ...ENV, ...files, "ask.mjs": ask });
    const said = await program.shell(`"${process.execPath}" --env-file=.env ask.mjs`);
    assert.deepEqual(said.trim().split("\n"), Array(3).fill("302 /federation/Login"));
  });

  test("service: the curl lines and the program get a token", async () => {
    const page = await begin("service");
    assert.match(await waiting(page), /Waiting for the first token/);
    const program = await shown(page, { ...ENV, "app.mjs": "service-code" });
    const answer = JSON.parse(await program.shell(snippetOf(page, "curl-token"))) as Record<string, unknown>;
    assert.equal(answer["token_type"], "Bearer");
    assert.match(await waiting(page), /live-panel done/);
    const token = await program.shell(`"${process.execPath}" --env-file=.env app.mjs`);
    assert.match(token, /^ey[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const discovery = JSON.parse(await program.shell(snippetOf(page, "curl-discovery"))) as {
      issuer: string;
    };
    assert.equal(discovery.issuer, org.issuer);
  });

  test("native application: the program signs in, and so do the curl lines", async () => {
    const page = await begin("native");
    const program = await shown(page, { ...ENV, "app.mjs": "loopback-code" });
    const app = program.start(["app.mjs"]);
    try {
      await eventually("it says what to open", () => app.output().includes("Open "), 30_000);
      await open(await signIn(/Open (\S+)/.exec(app.output())?.[1] ?? ""));
      await eventually("it knows who signed in", () => app.output().includes(org.user.email), 30_000);
    } finally {
      await app.stop();
    }
    assert.ok((await waiting(page)).includes(org.user.email));
    // Up to the question for the code, which is answered with none.
    const said = await program.shell(`${snippetOf(page, "curl-authorize")} </dev/null`);
    const url = /Open: (\S+)/.exec(said)?.[1] ?? "";
    const browser = testBrowser();
    assert.match((await browser.get(url)).body, /id="login-submit"/);
    assert.match(said, /"error"/);
  });

  test("single-page application: the page signs in without a library", async () => {
    const address = `http://localhost:${await freePort()}`;
    const page = await begin("spa", address);
    const script =
      /<script type="module">([\s\S]*)<\/script>/.exec(snippetOf(page, "browser-code"))?.[1] ?? "";
    const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as FunctionConstructor;
    const run = AsyncFunction("document", "location", "history", "sessionStorage", script);
    const kept = new Map<string, string>();
    const storage = {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => kept.set(name, value),
      removeItem: (name: string) => kept.delete(name),
    };
    const person = { textContent: "" };
    let click = async () => {};
    const button = { addEventListener: (_: string, listen: () => Promise<void>) => (click = listen) };
    const document = { getElementById: (id: string) => (id === "person" ? person : button) };
    const left: string[] = [];
    const locationAt = (search: string) => ({
      search,
      pathname: "/",
      assign: (url: string) => left.push(url),
    });
    const history = { replaceState: () => {} };
    await run(document, locationAt(""), history, storage);
    await click();
    const back = new URL(await signIn(left[0] ?? ""));
    assert.equal(back.origin, address);
    await run(document, locationAt(back.search), history, storage);
    assert.equal((JSON.parse(person.textContent) as { email: string }).email, org.user.email);
  });

  test("device application: the file and the lines request a device code", async () => {
    const page = await begin("device");
    const program = await shown(page, ENV);
    const lines = snippetOf(page, "curl-device").split("\n# 2.")[0] ?? "";
    const answer = JSON.parse(await program.shell(lines)) as Record<string, unknown>;
    assert.match(String(answer["user_code"]), /^[A-Z]{4}-[A-Z]{4}$/);
    assert.ok(snippetOf(page, "device-code").includes("deviceGrant"));
    assert.ok(!page.body.includes("sgn_cs_"));
  });

  test("a program of the gallery is shown alone, in three steps, and installs from this service", async () => {
    const page = await begin("hono");
    assert.deepEqual(
      [...page.body.matchAll(/<span class="step-number">(\d)<\/span>/g)].map(([, number]) => number),
      ["1", "2", "3"],
    );
    assert.ok(!page.body.includes('id="fastify-code"'));
    const address = `${running.baseUrl}/downloads/signet-client-sdk-${version}.tgz`;
    assert.equal(snippetOf(page, "hono-install"), `npm install ${address} hono`);
    assert.match(page.body, /data-download="env-file" data-file="\.env"/);
    const all = await console.get(`/quickstart/${textOf(page, "client-id")}`);
    assert.ok(all.body.includes('id="fastify-code"') && all.body.includes('id="hono-code"'));
  });

  test("reports an invalid name or address at its field and keeps what was typed", async () => {
    for (const [kind, typed, field] of [
      ["web", { name: " " }, "name"],
      ["web", { name: "X", address: "https://shop.example/app" }, "address"],
      ["spa", { name: "X", address: "http://shop.example" }, "address"],
    ] as const) {
      const page = await console.send(`/quickstart/new?for=${kind}`, typed);
      assert.equal(page.status, 400, field);
      assert.ok(page.body.includes(`id="${field}-fault"`), field);
      assert.ok(page.body.includes('value="X"') || field === "name");
    }
  });

  test("rejects a form without a CSRF token, and another organisation's application", async () => {
    const forged = await console.post("/quickstart/new", { csrf: "forged", for: "service", name: "Forged" });
    assert.equal(forged.status, 403);
    assert.ok(!(await console.get("/applications?search=Forged")).body.includes('id="application-0'));
    const other = await seedRecords(running.service, "Beta");
    const id = other.web.application.id;
    assert.ok(await findApplication(running.service.database.query, other.organisation.id, id));
    assert.equal((await console.get(`/quickstart/${id}`)).status, 404);
    assert.equal((await console.get(`/quickstart/${id}/waiting`)).status, 404);
    assert.equal(formOfPage(await console.get("/quickstart/new")).get("address"), "http://localhost:3000");
  });
});
