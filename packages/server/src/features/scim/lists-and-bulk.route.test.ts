import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { callScim, newScimConnection, type ScimClient } from "../../testing/fixtures/scim-connection.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
type Json = Record<string, unknown>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let scim: ScimClient;
  let count = 0;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    scim = await newScimConnection(running.service, org.organisation.id);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const person = (more: object = {}) => {
    const userName = `u${count++}@acme.example`;
    return { userName, name: { givenName: "Uma", familyName: "Ray" }, active: true, ...more };
  };
  const create = async (more: object = {}, client = scim) => {
    const { status, body } = await client.call("POST", "/Users", person(more));
    assert.equal(status, 201, JSON.stringify(body));
    return body as Json & { id: string; userName: string };
  };
  const list = async (query: string, client = scim) => {
    const { status, body } = await client.call("GET", `/Users?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as Json & { totalResults: number; Resources: Array<Json & { id: string }> };
  };

  describe("lists", () => {
    let fresh: ScimClient;
    let ids: string[];
    before(async () => {
      const one = await makeOrganisation(running.service, "Lists");
      fresh = await newScimConnection(running.service, one.organisation.id);
      ids = [one.user.id];
      for (let at = 0; at < 5; at++)
        ids.push((await create({ title: at % 2 === 0 ? "Even" : "Odd", externalId: `x${at}` }, fresh)).id);
      ids.sort();
    });
    const of = async (query: string) => list(query, fresh);

    test("have pages by index and by cursor, each user once", async () => {
      assert.equal((await of("count=0")).Resources.length, 0);
      assert.equal((await of("count=0")).totalResults, 6);
      const pages = await Promise.all([1, 3, 5].map((at) => of(`startIndex=${at}&count=2`)));
      assert.deepEqual(
        pages.flatMap(({ Resources }) => Resources.map(({ id }) => id)),
        ids,
      );
      const walked: string[] = [];
      for (let cursor: string | undefined = ""; cursor !== undefined; ) {
        const page: Json & { Resources: Array<{ id: string }> } = await of(`cursor=${cursor}&count=4`);
        walked.push(...page.Resources.map(({ id }) => id));
        cursor = page["nextCursor"] as string | undefined;
      }
      assert.deepEqual(walked, ids);
    });

    test("filter by anything, with the total of what matches", async () => {
      const titles = async (filter: string) =>
        (await of(`filter=${encodeURIComponent(filter)}&count=2`)) as Json & { Resources: Json[] };
      const even = await titles('title eq "even"');
      assert.deepEqual([even["totalResults"], even.Resources.length], [3, 2]);
      assert.equal((await titles('externalId eq "x1" and title sw "O"'))["totalResults"], 1);
      assert.equal((await titles('userName eq "nobody"'))["totalResults"], 0);
      assert.equal((await titles("not (title pr)"))["totalResults"], 1);
      const walked: string[] = [];
      for (let cursor: string | undefined = ""; cursor !== undefined; ) {
        const query = `filter=${encodeURIComponent('title eq "even"')}&count=2&cursor=${cursor}`;
        const page: Json & { Resources: Array<{ id: string }> } = await of(query);
        walked.push(...page.Resources.map(({ id }) => id));
        cursor = page["nextCursor"] as string | undefined;
      }
      assert.equal(new Set(walked).size, 3);
      const searched = await fresh.call("POST", "/Users/.search", { filter: 'title eq "odd"', count: 1 });
      assert.deepEqual([searched.status, searched.body["totalResults"]], [200, 2]);
      // A group has no title: none of them is found by one (RFC 7644 §3.4.2.1).
      const ofAll = await fresh.call("POST", "/.search", { filter: 'title eq "odd"' });
      assert.deepEqual([ofAll.status, ofAll.body["totalResults"]], [200, 2]);
      const ofNone = await fresh.call("POST", "/.search", { filter: "nothing pr" });
      assert.deepEqual([ofNone.status, ofNone.body["scimType"]], [400, "invalidFilter"]);
    });

    test("refuse what is no filter, number or cursor of theirs", async () => {
      const page = await of("cursor=&count=1");
      const foreign = `filter=${encodeURIComponent("title pr")}&cursor=${String(page["nextCursor"])}`;
      for (const [query, scimType] of [
        ["filter=userName+eq", "invalidFilter"],
        ["filter=nothing+pr", "invalidFilter"],
        [`filter=${"x".repeat(2001)}`, "invalidFilter"],
        ["startIndex=x", "invalidValue"],
        ["cursor=abc", "invalidCursor"],
        [foreign, "invalidCursor"],
      ] as const) {
        const { status, body } = await fresh.call("GET", `/Users?${query}`);
        assert.deepEqual([status, body["scimType"]], [400, scimType], query);
      }
      assert.equal((await fresh.call("GET", "/Users?sortBy=title&unknown=1")).status, 200);
    });

    test("answer only what was asked for", async () => {
      const shown = async (query: string) =>
        Object.keys((await of(`count=1&${query}`)).Resources[0] ?? {}).sort();
      assert.deepEqual(await shown("attributes=userName,name.givenName"), [
        "id",
        "name",
        "schemas",
        "userName",
      ]);
      assert.ok(!(await shown("excludedAttributes=emails,meta,id")).includes("emails"));
      assert.ok((await shown("excludedAttributes=id")).includes("id"));
    });
  });

  describe("a bulk request", () => {
    const bulk = (operations: object[], more: object = {}) =>
      scim.call("POST", "/Bulk", { Operations: operations, ...more });
    const results = (body: Json) => body["Operations"] as Array<Json & { response?: Json }>;

    test("runs each operation whole or not at all, and tells of each", async () => {
      const taken = await create();
      const { status, body } = await bulk([
        { method: "POST", path: "/Users", bulkId: "a", data: person() },
        { method: "POST", path: "/Users", bulkId: "b", data: { ...person(), userName: taken.userName } },
        {
          method: "PATCH",
          path: `/Users/${taken.id}`,
          data: { Operations: [{ op: "add", path: "title", value: "B" }] },
        },
        { method: "DELETE", path: `/Users/${crypto.randomUUID()}` },
      ]);
      assert.equal(status, 200);
      assert.deepEqual(
        results(body).map((one) => one["status"]),
        ["201", "409", "200", "404"],
      );
      assert.equal(results(body)[1]?.response?.["scimType"], "uniqueness");
      const location = String(results(body)[0]?.["location"]);
      assert.equal((await callScim("GET", location, { token: scim.token })).status, 200);
    });

    test("names what another operation makes, in any order", async () => {
      const { body } = await bulk([
        {
          ...{ method: "POST", path: "/Users", bulkId: "report" },
          data: person({ [ENTERPRISE]: { manager: { value: "bulkId:boss" } } }),
        },
        { method: "POST", path: "/Users", bulkId: "boss", data: person() },
        {
          method: "PATCH",
          path: "/Users/bulkId:boss",
          data: { Operations: [{ op: "add", path: "title", value: "B" }] },
        },
      ]);
      assert.deepEqual(
        results(body).map((one) => one["status"]),
        ["201", "201", "200"],
      );
      const [report, boss] = results(body).map((one) => String(one["location"]).split("/").at(-1));
      const read = await scim.call("GET", `/Users/${report}`);
      assert.deepEqual((read.body[ENTERPRISE] as Json)["manager"], { value: boss });
    });

    test("stops where it was told to, and is bounded", async () => {
      const wrong = { method: "DELETE", path: "/Users/x" };
      assert.equal(results((await bulk([wrong, wrong, wrong], { failOnErrors: 2 })).body).length, 2);
      assert.equal((await bulk(Array.from({ length: 1001 }, () => wrong))).status, 413);
      const large = JSON.stringify({ Operations: [], x: "x".repeat(4 * 1024 * 1024) });
      assert.equal((await scim.call("POST", "/Bulk", large)).status, 413);
      // 64 KiB for anything else.
      const title = { userName: "title@acme.example", title: "x".repeat(65 * 1024) };
      assert.equal((await scim.call("POST", "/Users", title)).status, 413);
      for (const body of [{}, { Operations: [] }, { Operations: [{ method: "GET", path: "/Users" }] }])
        assert.equal((await scim.call("POST", "/Bulk", body)).status, 400);
    });
  });
});
