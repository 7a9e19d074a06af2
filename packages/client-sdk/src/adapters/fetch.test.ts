import assert from "node:assert/strict";
import { test } from "node:test";
import { requireScopes } from "../oauth-user-bearer/unauthorized-response.ts";
import { stubFilter } from "../testing/stub-filter.ts";
import { identify, protect } from "./fetch.ts";

const filter = stubFilter();
const ask = (handler: (request: Request) => Promise<Response>, path: string, init?: RequestInit) =>
  handler(new Request(`https://app.example${path}`, init));
const subject = protect(filter, (_request, principal) => new Response(principal.subject));

test("the handler gets the principal, and its response the filter's cookies", async () => {
  const response = await ask(subject, "/");
  assert.equal(await response.text(), "uma");
  assert.deepEqual(response.headers.getSetCookie(), ["one=1; Path=/", "two=2; Path=/"]);
});

test("an immutable response gets the cookies too", async () => {
  const handler = protect(filter, () => Response.redirect("https://elsewhere.example/", 303));
  const response = await ask(handler, "/");
  assert.equal(response.status, 303);
  assert.equal(response.headers.get("location"), "https://elsewhere.example/");
  assert.equal(response.headers.getSetCookie().length, 2);
});

test("a body that is being read elsewhere is hidden from the filter, and the request continues", async () => {
  const request = new Request("https://app.example/", { method: "POST", body: "abc" });
  const reader = request.body?.getReader();
  assert.equal(await (await subject(request)).text(), "uma");
  await reader?.cancel();
});

test("a response with the filter's cookies is kept out of shared caches", async () => {
  for (const [given, sent] of [
    [undefined, "no-store"],
    ["public, max-age=60", "no-store"],
    ["private, max-age=60", "private, max-age=60"],
  ] as const) {
    const headers = given === undefined ? {} : { "cache-control": given };
    const handler = identify(filter, () => new Response("", { headers }));
    assert.equal((await ask(handler, "/")).headers.get("cache-control"), sent);
  }
});

test("the filter's own response is sent, and the handler isn't called", async () => {
  let calls = 0;
  const handler = protect(filter, () => {
    calls++;
    return new Response();
  });
  assert.equal((await ask(handler, "/refused")).status, 302);
  assert.equal(calls, 0);
});

test("an anonymous request gets 401 from `protect`, with the filter's cookies, and is undefined for `identify`", async () => {
  const refused = await ask(subject, "/anonymous");
  assert.equal(refused.status, 401);
  assert.deepEqual(refused.headers.getSetCookie(), ["gone=; Max-Age=0"]);
  const handler = identify(filter, (_request, principal) => Response.json([principal ?? null]));
  assert.deepEqual(await (await ask(handler, "/anonymous")).json(), [null]);
});

test("a missing scope gets 403; other errors are thrown", async () => {
  const scoped = protect(filter, (_request, principal) => {
    requireScopes(principal, "jobs:write");
    return new Response();
  });
  const response = await ask(scoped, "/");
  assert.equal(response.status, 403);
  assert.match(response.headers.get("www-authenticate") ?? "", /^Bearer error="insufficient_scope"/);
  assert.deepEqual(response.headers.getSetCookie(), ["one=1; Path=/", "two=2; Path=/"]);
  await assert.rejects(ask(subject, "/broken"), /a fault of the program/);
  const failing = protect(filter, () => {
    throw new Error("the handler's own");
  });
  await assert.rejects(ask(failing, "/"), /the handler's own/);
});

test("the handler can read the body, whatever the filter has read", async () => {
  const echo = protect(filter, async (request) => new Response(await request.text()));
  for (const path of ["/?read", "/"])
    assert.equal(await (await ask(echo, path, { method: "POST", body: "abc" })).text(), "abc", path);
  assert.equal(filter.seen.at(-2)?.body, "abc");
});

test("a body that only the handler reads is not buffered for the filter", async () => {
  let pulled = 0;
  let cancelled = false;
  const body = new ReadableStream({
    pull: (controller) => {
      pulled++;
      controller.enqueue(new Uint8Array(1000));
    },
    cancel: () => {
      cancelled = true;
    },
  });
  const first = protect(filter, async (request) => {
    const reader = request.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    return new Response();
  });
  const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" };
  await ask(first, "/", init);
  assert.ok(cancelled, "a copy still holds on to the body");
  assert.ok(pulled < 10);
});

test("the platform's further arguments reach the handler and `clientCertificate`", async () => {
  const handler = protect(
    filter,
    (_request, principal, info: { peer: number }) => new Response(`${principal.subject} ${info.peer}`),
    { clientCertificate: (_request, info) => Uint8Array.of(info.peer) },
  );
  const response = await handler(new Request("https://app.example/"), { peer: 7 });
  assert.equal(await response.text(), "uma 7");
  assert.deepEqual(filter.seen.at(-1)?.context, { clientCertificate: Uint8Array.of(7) });
});
