import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../testing/databases.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

forEachDatabase(({ name, fresh }) => {
  // The choice is the browser's alone.
  if (name !== "sqlite") return;
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(running.baseUrl + path, { redirect: "manual", headers });
  const recovery = () => `/oauth/${org.organisation.id}/recovery`;
  const langOf = async (headers: Record<string, string>, query = "") =>
    /<html lang="(\w+)">/.exec(await (await get(recovery() + query, headers)).text())?.[1];

  test("a language that is chosen at the foot of a page is kept, and the page comes back in it", async () => {
    const page = await (await get(recovery())).text();
    const uri = /href="(\/language\/fr[^"]*)"/.exec(page)?.[1] ?? "";
    const answer = await get(uri.replaceAll("&amp;", "&"));
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get("location"), recovery());
    const cookie = answer.headers.get("set-cookie") ?? "";
    assert.match(cookie, /^signet-language=fr; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.equal(await langOf({ cookie: "signet-language=fr", "accept-language": "de" }), "fr");
    assert.equal(await langOf({ "accept-language": "de" }), "de");
  });

  test("a page whose address is secret or names a record offers no languages", async () => {
    const secret = await (await get(`${recovery()}/01a209a2-4e55-75c0-a33b-97d48347c11f`)).text();
    const record = await (await get(`/oauth/manage/${org.organisation.id}/users`)).text();
    for (const page of [secret, record]) assert.doesNotMatch(page, /\/language\//);
    assert.match(record, /id="login-submit"/);
  });

  test("a page that answers a form offers them too, and leads where the form can be had again", async () => {
    const page = await get(recovery());
    const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? "";
    const cookie = page.headers
      .getSetCookie()
      .map((one) => one.split(";")[0])
      .join("; ");
    const post = (email: string) =>
      fetch(running.baseUrl + recovery(), {
        method: "POST",
        headers: { cookie },
        body: new URLSearchParams({ csrf, email }),
      });
    for (const email of ["", "user@acme.example"]) {
      const uri = /href="(\/language\/fr[^"]*)"/.exec(await (await post(email)).text())?.[1] ?? "";
      const answer = await get(uri.replaceAll("&amp;", "&"));
      assert.equal(answer.headers.get("location"), recovery(), email);
    }
  });

  test("a choice of no language is none, and is never kept", async () => {
    assert.equal(await langOf({ cookie: "signet-language=xx", "accept-language": "de" }), "de");
    assert.equal((await get("/language/xx")).status, 404);
  });

  for (const to of [
    "https://elsewhere.example/",
    "//elsewhere.example/",
    "/\\elsewhere.example",
    "/%5celsewhere.example",
    "javascript:alert(1)",
    "/\t/elsewhere.example",
    "/.//elsewhere.example/",
    "/..//elsewhere.example/",
    "/%2e//elsewhere.example/",
    "/./\\elsewhere.example/",
    "/a/..//elsewhere.example/",
    "",
  ]) {
    test(`from "${to}" the way leads to a page of this server`, async () => {
      const answer = await get(`/language/de?${new URLSearchParams({ to })}`);
      const location = answer.headers.get("location") ?? "";
      assert.equal(new URL(location, running.baseUrl).origin, running.baseUrl);
      assert.match(location, /^\/(?![/\\])/);
    });
  }
});
