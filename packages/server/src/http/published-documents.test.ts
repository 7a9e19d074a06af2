import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { setOrganisationStatus } from "../core/organisations/organisations.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { eventually } from "../testing/eventually.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { sendRaw } from "../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";
import { publishedDocument, publishedDocuments } from "./published-documents.ts";

describe("published documents", () => {
  const path = (index: number) => `/oauth/${index}/x`;
  const make = (orgId: string, staleAt = 1_000) => publishedDocument(orgId, { orgId }, staleAt);

  test("evicts the oldest document beyond its capacity", () => {
    const documents = publishedDocuments({ capacity: 3, clock: () => 0, idOf: () => "one" });
    for (let index = 0; index < 10; index++) documents.put(path(index), make(`${index}`), documents.mark());
    const kept = Array.from({ length: 10 }, (_, index) => index).filter((index) =>
      documents.cached(path(index)),
    );
    assert.deepEqual(kept, [7, 8, 9]);
    documents.put(path(9), make("9"), documents.mark());
    assert.ok(documents.cached(path(7)), "putting one anew pushes no other out");
  });

  test("ignores documents built before an eviction", () => {
    const documents = publishedDocuments({ capacity: 3, clock: () => 0, idOf: () => "one" });
    for (const evict of [() => documents.evictOrganisation("a"), () => documents.markAllStale()]) {
      const mark = documents.mark();
      evict();
      documents.put(path(1), make("a"), mark);
      assert.equal(documents.cached(path(1)), undefined);
    }
    documents.put(path(1), make("a"), documents.mark());
    documents.put(path(2), make("b"), documents.mark());
    documents.evictOrganisation("a");
    assert.equal(documents.cached(path(1)), undefined);
    assert.ok(documents.cached(path(2)), "another organisation's stays");
  });

  test("keeps a document although others changed meanwhile, as long as it is known who", () => {
    const documents = publishedDocuments({ capacity: 3, clock: () => 0, idOf: () => "one" });
    const mark = documents.mark();
    for (let index = 0; index < 1_000; index++) documents.evictOrganisation(`other ${index}`);
    documents.put(path(1), make("a"), mark);
    assert.ok(documents.cached(path(1)));
    documents.evictOrganisation("one more");
    documents.put(path(2), make("b"), mark);
    assert.equal(documents.cached(path(2)), undefined, "who changed first is not remembered");
  });

  test("answers GET with fresh documents only, and counts them", () => {
    let now = 0;
    const documents = publishedDocuments({ capacity: 3, clock: () => now, idOf: () => "one" });
    documents.put(path(1), make("a"), documents.mark());
    const response = { writeHead: () => {}, end: () => {} } as unknown as ServerResponse;
    const ask = (url: string, method = "GET") =>
      documents.answer({ url, method, headers: {}, rawHeaders: [] as string[] } as IncomingMessage, response);
    assert.deepEqual(
      [ask(path(1)), ask(path(1)), ask(path(2)), ask(path(1), "HEAD")],
      [true, true, false, false],
    );
    assert.deepEqual([documents.takeCount(), documents.takeCount()], [2, 0]);
    now = 1_000;
    assert.equal(ask(path(1)), false, "stale");
    assert.ok(documents.cached(path(1)));
    documents.put(path(1), make("a", 2_000), documents.mark());
    assert.equal(ask(path(1)), true);
    documents.markAllStale();
    assert.equal(ask(path(1)), false, "in doubt");
    assert.ok(documents.cached(path(1)), "for as long as no better one can be made");
  });

  test("of requests sent at once each answer has its own id, and tags count on several lines and in any case", async (t) => {
    let asked = 0;
    const documents = publishedDocuments({ capacity: 3, clock: () => 0, idOf: () => `id-${asked++}` });
    const document = make("a");
    documents.put(path(1), document, documents.mark());
    const server = createServer((request, response) => documents.answer(request, response));
    t.after(() => server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const get = (...lines: string[]) => [`GET ${path(1)} HTTP/1.1`, "Host: a", ...lines, "", ""].join("\r\n");
    const tags = ['IF-NONE-MATCH: "x"', `if-none-Match: ${document.etag}`];
    socket.write(get() + get(...tags) + get('If-None-Match: "x"') + get("Connection: close"));
    const answers = (await text(socket)).split("HTTP/1.1 ").slice(1);
    assert.deepEqual(
      answers.map((answer) => [answer.slice(0, 3), /x-request-id: (\S+)/i.exec(answer)?.[1]]),
      [
        ["200", "id-0"],
        ["304", "id-1"],
        ["200", "id-2"],
        ["200", "id-3"],
      ],
    );
  });

  test("documents are the bytes of their JSON, whatever is in it", () => {
    const document = publishedDocument("a", { name: "Zoë \u2028 😀 \u007f" }, 0);
    assert.deepEqual(JSON.parse(document.body.toString()), { name: "Zoë \u2028 😀 \u007f" });
    assert.ok(document.headers.includes(String(document.body.length)));
    assert.notEqual(document.etag, publishedDocument("a", { name: "Zoe" }, 0).etag);
  });
});

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let addresses: string[];
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    addresses = [
      `${org.issuer}/.well-known/openid-configuration`,
      `${org.issuer}/.well-known/jwks.json`,
      org.issuer.replace("/oauth/", "/.well-known/oauth-authorization-server/oauth/"),
    ];
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const countLines = async () => (await running.linesSoFar()).length;

  test("sends the same bytes and headers from the cache and the normal route", async () => {
    for (const url of addresses) {
      const first = await sendRaw(`${url}?x=1`, {});
      const second = await sendRaw(url, {});
      let third = second;
      // PostgreSQL may tell of the fixture's own changes only now, which empties the cache once more.
      await eventually("the next is answered before routing", async () => {
        const before = await countLines();
        third = await sendRaw(url, {});
        return (await countLines()) === before;
      });
      for (const answer of [second, third]) {
        assert.equal(answer.status, 200);
        assert.equal(answer.text, first.text);
        for (const name of [
          "etag",
          "cache-control",
          "content-type",
          "content-length",
          "access-control-allow-origin",
          "x-content-type-options",
        ])
          assert.equal(answer.headers.get(name), first.headers.get(name), name);
      }
      assert.equal(first.headers.get("cache-control"), "public, max-age=300");
    }
  });

  test("responds 304 to a known ETag: single, list, weak and *", async () => {
    for (const url of addresses) {
      const etag = (await sendRaw(url, {})).headers.get("etag") ?? "";
      assert.match(etag, /^"[A-Za-z0-9_-]+"$/);
      for (const at of [url, `${url}?x=1`]) {
        const ask = (tags: string) => sendRaw(at, { headers: { "if-none-match": tags } });
        for (const same of [etag, `W/${etag}`, `"x", ${etag}`, `"x",W/${etag} , "y"`, "*"]) {
          const { status, text, headers } = await ask(same);
          assert.equal(status, 304, same);
          assert.equal(text, "");
          assert.equal(headers.get("etag"), etag);
          assert.equal(headers.get("cache-control"), "public, max-age=300");
        }
        for (const other of ['"x"', etag.slice(1, -1), "", `${etag}x`, etag.toLowerCase().toUpperCase()])
          assert.equal((await ask(other)).status, 200, other);
      }
    }
  });

  test("HEAD sends the headers without a body", async () => {
    for (const url of addresses) {
      const get = await sendRaw(url, {});
      const head = await sendRaw(url, { method: "HEAD" });
      assert.equal(head.status, 200);
      assert.equal(head.text, "");
      for (const name of ["etag", "content-length", "content-type", "cache-control"])
        assert.equal(head.headers.get(name), get.headers.get(name), name);
      const tag = { "if-none-match": get.headers.get("etag") ?? "" };
      assert.equal((await sendRaw(url, { method: "HEAD", headers: tag })).status, 304);
    }
  });

  test("answers other spellings of a path without caching them", async () => {
    for (const url of addresses) {
      const { text } = await sendRaw(url, {});
      const id = org.organisation.id;
      for (const spelling of [
        url.replace(id, id.toUpperCase()),
        `${url}?`,
        `${url}?a=b`,
        url.replace("/.well", "/%2ewell"),
      ]) {
        for (let time = 0; time < 2; time++) {
          const before = await countLines();
          const answer = await sendRaw(spelling, {});
          assert.equal(answer.text, text, spelling);
          assert.equal(await countLines(), before + 1, `${spelling} went the ordinary way`);
        }
      }
    }
  });

  test("rebuilds a document after half a minute", async () => {
    const [url = ""] = addresses;
    await sendRaw(url, {});
    const before = await countLines();
    clock.advance(29_999);
    await sendRaw(url, {});
    assert.equal(await countLines(), before);
    clock.advance(1);
    await sendRaw(url, {});
    assert.equal(await countLines(), before + 1);
  });

  test("doesn't lose a change during the build of a document", async () => {
    const shut = await makeOrganisation(running.service, "Shut");
    const url = `${shut.issuer}/.well-known/openid-configuration`;
    const change = { orgId: shut.organisation.id, actor: "test" };
    for (let round = 0; round < 20; round++) {
      await setOrganisationStatus(running.service, { ...change, disabled: false });
      const asked = Promise.all([sendRaw(url, {}), sendRaw(url, {})]);
      await setOrganisationStatus(running.service, { ...change, disabled: true });
      await asked;
      assert.equal((await sendRaw(url, {})).status, 404);
    }
  });
});
