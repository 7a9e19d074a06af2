/** The documentation site as the service serves it; that it is whole and works offline is for e2e/documentation-site.test.ts. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import fastify from "fastify";
import { eventually } from "../../testing/eventually.ts";
import { siteRoute } from "./site.route.ts";
import { documentationSite, type Site } from "./site-files.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-test-site-"));
  const site = path.join(folder, "site");
  await mkdir(path.join(site, "assets"), { recursive: true });
  await mkdir(path.join(site, "sdk"));
  const files = {
    "index.html": "first",
    "install.html": "install",
    "sdk/index.html": "sdk",
    "404.html": "none",
  };
  for (const [name, text] of Object.entries({ ...files, "assets/app.js": "app", "code.css": "css" }))
    await writeFile(path.join(site, name), text);
  await writeFile(path.join(site, "install.html.br"), brotliCompressSync("install"));
  await writeFile(path.join(site, "notes.md"), "not of the site");
  await writeFile(path.join(folder, "secret.html"), "outside");
});
after(() => rm(folder, { recursive: true }));

function serve(site: () => Site) {
  const app = fastify();
  siteRoute(app, { clock: Date.now, site });
  return app;
}

async function ready() {
  const site = documentationSite(Date.now, async () => path.join(folder, "site"));
  await eventually("the site is open", () => site().kind === "ready");
  return serve(site);
}

test("pages have the addresses of their files without the ending, and are checked again by their tag", async () => {
  const app = await ready();
  for (const [url, text] of [
    ["/docs/", "first"],
    ["/docs/install", "install"],
    ["/docs/sdk/", "sdk"],
  ] as const) {
    const { statusCode, body, headers } = await app.inject({ url });
    assert.deepEqual([statusCode, body], [200, text], url);
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    assert.equal(headers["cache-control"], "no-cache");
    const again = await app.inject({ url, headers: { "if-none-match": String(headers.etag) } });
    assert.deepEqual([again.statusCode, again.body], [304, ""]);
  }
});

test("the policy allows no inline script or style, and nothing from elsewhere", async () => {
  const { headers } = await (await ready()).inject({ url: "/docs/" });
  const policy = String(headers["content-security-policy"]);
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["x-frame-options"], "DENY");
});

test("scripts and styles are kept for good, as their names change with them", async () => {
  const app = await ready();
  const { headers } = await app.inject({ url: "/docs/assets/app.js" });
  assert.equal(headers["content-type"], "text/javascript; charset=utf-8");
  assert.match(String(headers["cache-control"]), /immutable/);
  assert.equal((await app.inject({ url: "/docs/code.css" })).headers["cache-control"], "no-cache");
});

test("who takes Brotli gets the file that the build has compressed", async () => {
  const app = await ready();
  const ask = (encoding: string) =>
    app.inject({ url: "/docs/install", headers: { "accept-encoding": encoding } });
  const compressed = await ask("gzip, br;q=0.9");
  assert.equal(compressed.headers["content-encoding"], "br");
  assert.equal(brotliDecompressSync(compressed.rawPayload).toString(), "install");
  assert.equal((await ask("gzip, brx")).headers["content-encoding"], undefined);
});

test("no other file is served", async () => {
  const app = await ready();
  for (const name of [
    "none",
    "notes.md",
    "404.html",
    "install.html.br",
    "../secret",
    "..%2Fsecret.html",
    "assets",
    "%00",
  ])
    assert.equal((await app.inject({ url: `/docs/${name}` })).statusCode, 404, name);
});

test("the link to the API reference leads to it", async () => {
  const { statusCode, headers } = await (await ready()).inject({ url: "/docs/api" });
  assert.deepEqual([statusCode, headers.location], [308, "/docs"]);
});

test("while a clone builds the site, a page says so and reloads; after a failure it is tried again in a minute", async () => {
  let now = 0;
  let built = 0;
  let end: (error?: Error) => void = () => {};
  const site = documentationSite(
    () => now,
    () =>
      new Promise((resolve, reject) => {
        built += 1;
        end = (error) => (error ? reject(error) : resolve(path.join(folder, "site")));
      }),
  );
  const app = serve(site);
  const waiting = await app.inject({ url: "/docs/" });
  assert.deepEqual([waiting.statusCode, waiting.headers.refresh], [503, "3"]);
  assert.match(waiting.body, /being built/);
  end(new Error("no generator"));
  await eventually("it has failed", () => site().kind === "failed");
  const failed = await app.inject({ url: "/docs/install" });
  assert.deepEqual([failed.statusCode, failed.headers.refresh], [503, undefined]);
  assert.equal(built, 1, "one build for all requests");
  now = 60_001;
  assert.equal(site().kind, "building");
  end();
  await eventually("it is there", () => site().kind === "ready");
  assert.equal((await app.inject({ url: "/docs/install" })).body, "install");
  assert.equal(built, 2);
});
