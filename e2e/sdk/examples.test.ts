/** Every program of `examples/`, started by its one command against one demo server, and used as its users would. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { allow, signIn } from "../journeys/sign-in-steps.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, keepPictures, type PageWatch, watchPage } from "../support/page-watch.ts";
import { startServerInProcess } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { type Example, moveExamples, startExample } from "./example-process.ts";

const examplesFolder = fileURLToPath(new URL("../../examples", import.meta.url));

let browser: Browser;
let server: RunningServer;
let demo: DemoFile;
let demoFile: string;
before(async () => {
  browser = await launchBrowser();
  server = await startServerInProcess();
  ({ file: demoFile, demo } = await moveExamples(await server.demo(), server.dataDir));
});
after(async () => {
  await browser.close();
  await server.stop();
});

function start(t: TestContext, name: string, options?: { hasClock: boolean }): Example {
  const example = startExample(name, demoFile, options);
  t.after(() => example.stop());
  return example;
}

/** Started, and ready where it says. */
async function open(t: TestContext, name: string, address: string): Promise<Example> {
  const example = start(t, name, { hasClock: true });
  assert.equal((await example.said(/^Open {2}(\S+)\/$/m))[1], address);
  return example;
}

async function newPage(t: TestContext): Promise<{ page: Page; watch: PageWatch }> {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  return { page, watch: await watchPage(page) };
}

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole("heading", { level: 1, name, exact: true }).waitFor();

/** Usable by everyone, and nothing that the browser complains of. */
async function look(page: Page, watch: PageWatch, name: string): Promise<void> {
  await assertUsable(page, name);
  assert.deepEqual(watch.faults, [], name);
  await keepPictures(page, name);
}

test("every example is one file of under 80 lines that the README names", async () => {
  const readme = await readFile(path.join(examplesFolder, "README.md"), "utf8");
  const names = await readdir(examplesFolder);
  const programs = names.filter((name) => name.endsWith(".ts"));
  assert.equal(programs.length, 8);
  for (const name of programs) assert.ok(readme.includes(`\`npx node examples/${name}\``), name);
  const halves = (await readdir(path.join(examplesFolder, "spa"))).map((name) => `spa/${name}`);
  for (const name of [...programs, ...halves]) {
    const text = await readFile(path.join(examplesFolder, name), "utf8");
    assert.ok(text.trimEnd().split("\n").length < 80, name);
  }
});

test("without a running demo an example says what to do and exits with 1", async (t) => {
  const example = startExample("backend-caller", path.join(server.dataDir, "elsewhere.json"));
  t.after(() => example.stop());
  assert.equal(await example.ended, 1);
  assert.match(example.output(), /^The demo is not running .*\nRun `npm start` in another terminal/);
});

test("web-app: sign-in, refresh, local, remote and back-channel logout; shows a denial", async (t) => {
  const { address } = demo.examples.webApp;
  const example = await open(t, "web-app", address);
  const { page, watch } = await newPage(t);
  await page.goto(address);
  await heading(page, "A page for everybody");
  await look(page, watch, "web-app-front");
  await page.getByRole("link", { name: "Your account" }).click();
  await signIn(page, demo.user);
  await page.locator("#consent-deny").click();
  await page.locator("#signet-action").waitFor();
  assert.equal(new URL(page.url()).origin, address);

  await page.goto(`${address}/account`);
  await allow(page);
  await heading(page, "Uma User");
  await page.getByText(demo.user.email).waitFor();
  await page.getByText("userinfo answers 200").waitFor();
  await look(page, watch, "web-app-account");
  const token = () => page.locator("dt:text-is('Ends with') + dd").innerText();
  const first = await token();
  await page.reload();
  assert.equal(await token(), first);
  await example.putClockAhead();
  await page.reload();
  assert.notEqual(await token(), first);
  await page.getByText("userinfo answers 200").waitFor();

  await page.getByRole("button", { name: "Sign out" }).click();
  await heading(page, "A page for everybody");
  await page.goto(`${address}/account`);
  await page.locator("#login-submit").waitFor();
  assert.equal(new URL(page.url()).origin, demo.baseUrl);

  await signIn(page, demo.user);
  await heading(page, "Uma User");
  await page.goto(`${demo.issuer}/end_session`);
  await page.locator("#logout-confirm").click();
  await heading(page, "You’re signed out");
  await eventually("the application has been told", async () => {
    await page.goto(address);
    return (await page.getByText("You are not signed in").count()) === 1;
  });
});

test("legacy-web-app: a session key, a page for administrators, re-validation, sign-out", async (t) => {
  const { address } = demo.examples.legacyApp;
  const example = await open(t, "legacy-web-app", address);
  const { page, watch } = await newPage(t);
  await page.goto(address);
  await page.getByRole("link", { name: "Sign in" }).click();
  await signIn(page, demo.user);
  await heading(page, "Uma User");
  assert.ok(!page.url().includes("service_key"), page.url());
  await look(page, watch, "legacy-web-app");
  await page.getByRole("link", { name: "Administration" }).click();
  await heading(page, "Not for you");
  await page.getByText("Your role is Standard.").waitFor();

  await page.goto(`${demo.issuer}/end_session`);
  await page.locator("#logout-confirm").click();
  await heading(page, "You’re signed out");
  await example.putClockAhead();
  await page.goto(address);
  await heading(page, "A page for everybody");

  await page.getByRole("link", { name: "Sign in" }).click();
  await signIn(page, demo.admin);
  await page.getByRole("link", { name: "Administration" }).click();
  await heading(page, "Administration");
  await page.getByRole("link", { name: "Back" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await heading(page, "A page for everybody");
});

test("api-and-spa: code flow and refresh in the browser; the API enforces scopes", async (t) => {
  const { address } = demo.examples.notesApp;
  await open(t, "api-and-spa", address);
  const refused = await fetch(`${address}/api/notes`);
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get("www-authenticate") ?? "", /^Bearer\b/);
  const { page, watch } = await newPage(t);
  await page.goto(`${address}/?state=forged&code=any`);
  await page.getByText("This answer belongs to no sign-in of this page.").waitFor();
  await page.getByRole("button", { name: "Sign in" }).click();
  await signIn(page, demo.user);
  await allow(page);
  await page.getByText("Signed in as Uma User.").waitFor();
  assert.equal(page.url(), `${address}/`, "the code is gone from the address bar");

  await page.getByLabel("New note").fill("Milk");
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("button", { name: "Allow it to write" }).click();
  await allow(page);
  await page.getByText("Signed in as Uma User.").waitFor();
  await page.getByLabel("New note").fill("Bread & <b>butter</b>");
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("listitem").filter({ hasText: "Bread & <b>butter</b>" }).waitFor();
  await look(page, watch, "api-and-spa");
  await page.getByRole("button", { name: "Renew the token" }).click();
  await page.getByText("Renewed: the old refresh token is used up.").waitFor();
  await page.getByLabel("New note").fill("Eggs");
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("listitem").nth(1).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are not signed in.").waitFor();
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("#login-submit").waitFor();
});

test("sovereign-api: accepts tokens of the agent and rejects those of the service", async (t) => {
  const { address } = demo.examples.sovereign;
  await open(t, "sovereign-api", address);
  const { page, watch } = await newPage(t);
  await page.goto(address);
  await heading(page, "Who holds which key");
  await look(page, watch, "sovereign-api");
  await page.getByRole("link", { name: "Call with a token signed by the agent" }).click();
  await heading(page, "The API responds with 200");
  await page.getByText(`Only for ${demo.examples.sovereign.clientId}`).waitFor();
  await page.getByRole("link", { name: "Back" }).click();
  await page.getByRole("link", { name: "Call with a token signed by the service" }).click();
  await heading(page, "The API responds with 401");
  await page.getByText("invalid_token").waitFor();
});

test("machine-to-machine: rejected without a token, accepted with one, and told of the missing scope", async (t) => {
  const example = start(t, "machine-to-machine");
  assert.equal(await example.ended, 0, example.output());
  const [bare, ...served] = [...example.output().matchAll(/^ {2}(\d{3}) (.*)$/gm)].map((line) =>
    line.slice(1),
  );
  assert.equal(bare?.[0], "401");
  assert.deepEqual(
    served.map(([status, body]) => [status, JSON.parse(body ?? "")]),
    Array(2).fill(["200", { count: 3, calledBy: "service", clientId: demo.examples.worker.clientId }]),
  );
  assert.match(example.output(), /A scope that is not allowed:\n {2}provider_refused: invalid_scope\n/);
});

test("backend-caller: signed calls, pagination, creates and deletes a record, handles errors by code", async (t) => {
  const example = start(t, "backend-caller");
  assert.equal(await example.ended, 0, example.output());
  const said = example.output();
  assert.match(said, /^Uma User, Standard, is [0-9a-f-]{36}\n/);
  assert.match(said, /^ {2}spa {11}Example notes$/m);
  assert.match(said, /Created "Created by an example", described it as "Temporary", and deleted it\./);
  const refusals = [...said.matchAll(/: (\d{3} [\w-]+)$/gm)].map(([, what]) => what);
  assert.deepEqual(refusals, ["404 not-found", "401 not-authenticated", "401 not-authenticated"]);
});

test("device-cli: shows code, URL and QR code, and greets by name; a denial exits with 1", async (t) => {
  const [yes, no] = [start(t, "device-cli"), start(t, "device-cli")];
  const { page } = await newPage(t);
  for (const [example, button] of [
    [yes, "#device-allow"],
    [no, "#device-deny"],
  ] as const) {
    const [, address = "", code = ""] = await example.said(
      /open {2}(\S+)\nand enter the code {2}([A-Z]{4}-[A-Z]{4})\n/,
    );
    assert.equal(address, `${demo.issuer}/device/verify`);
    assert.match(example.output(), /[▀▄█]{10}/, "a QR code");
    await page.goto(address);
    if (example === yes) await signIn(page, demo.user);
    await page.locator("#user_code").fill(code);
    await page.locator("#verify-submit").click();
    await page.locator(button).click();
  }
  await yes.said(/Signed in as Uma User\n/);
  assert.equal(await yes.ended, 0);
  await no.said(/Not signed in: access_denied\n/);
  assert.equal(await no.ended, 1);
});
