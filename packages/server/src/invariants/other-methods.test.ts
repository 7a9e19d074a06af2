// A known path with another method is 405 with `Allow`, on every registered route, for every caller and organisation alike.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listRoutes } from "../testing/list-routes.ts";
import { sendRaw } from "../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
const NO_ID = "00000000-0000-7000-8000-000000000000";

const routes = await listRoutes();

const pattern = (path: string) =>
  new RegExp(
    `^${path
      .replaceAll(".", "\\.")
      .replaceAll(/\/:\w+\?/g, "(/[^/]+)?")
      .replaceAll(/:\w+/g, "[^/]+")
      .replace("*", ".*")}$`,
  );
const patterns = routes.map(({ method, path }) => ({ method, pattern: pattern(path) }));
const methodsAt = (address: string) =>
  [...new Set(patterns.filter(({ pattern }) => pattern.test(address)).map(({ method }) => method))].sort();

let running: TestService;
let org: TestOrganisation;
before(async () => {
  running = await startTestService({
    databaseUrl: "sqlite::memory:",
    demo: async () => ({
      organisationIds: [],
      orgId: NO_ID,
      clientId: NO_ID,
      credentialsFile: "demo.json",
    }),
  });
  org = await makeOrganisation(running.service);
});
after(() => running.close());

const addresses = (orgId: string) =>
  [...new Set(routes.map(({ path }) => path))].map((path) =>
    path
      .replace(":org", orgId)
      .replaceAll(/:\w+\??/g, NO_ID)
      .replace("*", "x"),
  );

test("names the methods that the path has, the same for unknown organisations", async () => {
  let refused = 0;
  for (const orgId of [org.organisation.id, NO_ID, "nonsense"])
    for (const address of addresses(orgId)) {
      const allowed = methodsAt(address);
      const others = METHODS.filter((one) => !allowed.includes(one));
      // Of an organisation that is not there one is enough: it is another one from address to address.
      const sent = orgId === org.organisation.id ? others : others.slice(refused % others.length).slice(0, 1);
      for (const method of sent) {
        const what = `${method} ${address}`;
        const answer = await sendRaw(`${running.baseUrl}${address}`, { method });
        assert.equal(answer.status, 405, what);
        assert.equal(answer.headers.get("allow"), allowed.join(", "), what);
        assert.equal(answer.headers.get("cache-control"), "no-store", what);
        refused++;
      }
    }
  assert.ok(refused > 1_000, `${refused}`);
  assert.deepEqual(running.errors, []);
});

test("is decided before the body is read, and is a page for browsers", async () => {
  const url = `${org.issuer}/authorize`;
  const malformed = { "content-type": "application/json", accept: "application/json" };
  const program = await sendRaw(url, { method: "PUT", headers: malformed, body: "{" });
  assert.deepEqual([program.status, program.body["type"]], [405, "urn:signet:error:method-not-allowed"]);
  const browser = await sendRaw(`${org.issuer}/login`, { headers: { accept: "text/html" } });
  assert.deepEqual([browser.status, browser.headers.get("allow")], [405, "POST"]);
  assert.match(browser.headers.get("content-type") ?? "", /^text\/html/);
});

test("an unknown path is 404 with every method, and so is a record that is not there", async () => {
  for (const path of [
    "/nothing",
    `/oauth/${org.organisation.id}/nothing`,
    `${new URL(org.issuer).pathname}/token/`,
  ])
    for (const method of METHODS) {
      const answer = await sendRaw(`${running.baseUrl}${path}`, { method });
      assert.deepEqual([answer.status, answer.headers.get("allow")], [404, null], `${method} ${path}`);
    }
  assert.equal((await sendRaw(`${running.baseUrl}/oauth/${NO_ID}/authorize`, {})).status, 404);
});
