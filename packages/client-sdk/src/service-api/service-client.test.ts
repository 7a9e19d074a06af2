// When the service is asked again, and that each time it is a request of its own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NONCE_HEADER, TIMESTAMP_HEADER } from "@signet/protocol/hmac-headers";
import { SignetError } from "../errors.ts";
import { pause } from "../pause.ts";
import { verifyHmac } from "../system-account/hmac.ts";
import { jsonResponse, problemResponse, type StubService, stubService } from "../testing/stub-service.ts";
import { createServiceClient, type ServiceCall } from "./service-client.ts";

const systemAccount = { publicKey: "0198c7a3-1111-7222-8333-444455556666", secretKey: "sgn_sa_secret" };
const settings = {
  federationServer: "https://id.example",
  environment: "production",
  systemAccount,
} as const;
const NOW = 1_790_000_000_000;
const lost = () => new TypeError("fetch failed");

function caller(service: StubService) {
  const waited: number[] = [];
  const wait = async (milliseconds: number) => void waited.push(milliseconds);
  const call = createServiceClient(settings, { fetch: service.fetch, clock: () => NOW, wait });
  const make = (more: Partial<ServiceCall> = {}) =>
    call({ method: "GET", target: "/legacy/api/oauth/clients?limit=2", isRepeatable: true, ...more });
  return { make, waited };
}

test("an idempotent call is retried, each time with another nonce", async () => {
  const service = stubService((_, count) => (count < 3 ? lost() : jsonResponse({ count })));
  const { make, waited } = caller(service);
  const { body } = await make({ method: "PUT", body: { name: "Å" } });
  assert.deepEqual(body, { count: 3 });
  assert.equal(new Set(service.asked.map(({ headers }) => headers.get(NONCE_HEADER))).size, 3);
  for (const { method, target, headers, body: sent } of service.asked) {
    const [, signature = ""] = (headers.get("authorization") ?? "").split(":");
    const timestamp = headers.get(TIMESTAMP_HEADER) ?? "";
    const strict = { method, target, timestamp, nonce: headers.get(NONCE_HEADER) ?? "" };
    assert.equal(
      await verifyHmac(signature, systemAccount.secretKey, new TextEncoder().encode(sent), strict),
      true,
    );
    assert.deepEqual([timestamp, headers.get("content-type")], ["1790000000", "application/json"]);
  }
  assert.ok(waited[0] !== undefined && waited[0] >= 100 && waited[0] <= 200, String(waited));
  assert.ok(waited[1] !== undefined && waited[1] >= 400 && waited[1] <= 800, String(waited));
});

const statuses = [
  {
    name: "429 with a time",
    answer: () => problemResponse(429, "too-many", {}, { "retry-after": "7" }),
    waits: 7000,
  },
  {
    name: "503 with a time",
    answer: () => problemResponse(503, "busy", {}, { "retry-after": "0" }),
    waits: 0,
  },
  { name: "503 of a proxy", answer: () => new Response("busy", { status: 503 }), waits: "some" },
  {
    name: "409 of an earlier attempt",
    answer: () => problemResponse(409, "under-way", {}, { "retry-after": "1" }),
    waits: 1000,
  },
  {
    name: "a time that is too long",
    answer: () => problemResponse(429, "too-many", {}, { "retry-after": "11" }),
    waits: undefined,
  },
  { name: "500", answer: () => problemResponse(500, "internal"), waits: undefined },
  { name: "409", answer: () => problemResponse(409, "conflict"), waits: undefined },
  { name: "401", answer: () => problemResponse(401, "not-authenticated"), waits: undefined },
  {
    name: "a redirect",
    answer: () => new Response(null, { status: 302, headers: { location: "https://x.example" } }),
    waits: undefined,
  },
];
for (const { name, answer, waits } of statuses)
  test(`${name}: ${waits === undefined ? "not retried" : "retried"}`, async () => {
    const service = stubService((_, count) => (count === 1 ? answer() : jsonResponse({})));
    const { make, waited } = caller(service);
    if (waits === undefined) await assert.rejects(make(), SignetError);
    else await make();
    assert.equal(service.asked.length, waits === undefined ? 1 : 2);
    if (typeof waits === "number") assert.deepEqual(waited, [waits]);
  });

test("other calls are never retried", async () => {
  for (const answer of [lost, () => problemResponse(429, "too-many", {}, { "retry-after": "0" })]) {
    const service = stubService(answer);
    await assert.rejects(caller(service).make({ method: "POST", body: {}, isRepeatable: false }), {
      code: "provider_unreachable",
    });
    assert.equal(service.asked.length, 1);
  }
});

test("after three attempts the last response is reported", async () => {
  const service = stubService(() => problemResponse(503, "busy"));
  await assert.rejects(caller(service).make(), {
    code: "provider_unreachable",
    status: 503,
    problem: { code: "busy", status: 503, title: "busy", detail: undefined, instance: "test-1", errors: [] },
  });
  assert.equal(service.asked.length, 3);
});

test("a record deleted by an attempt whose response was lost is deleted; otherwise it didn't exist", async () => {
  const answers = (first: () => Response | Error) =>
    stubService((_, count) => (count === 1 ? first() : problemResponse(404, "not-found")));
  await caller(answers(lost)).make({ method: "DELETE" });
  await caller(answers(() => new Response("", { status: 504 }))).make({ method: "DELETE" });
  const turnedAway = answers(() => problemResponse(429, "too-many", {}, { "retry-after": "0" }));
  await assert.rejects(caller(turnedAway).make({ method: "DELETE" }), { code: "provider_refused" });
  await assert.rejects(caller(answers(lost)).make({ method: "GET" }), { code: "provider_refused" });
  await assert.rejects(caller(answers(() => problemResponse(404, "not-found"))).make({ method: "DELETE" }), {
    code: "provider_refused",
  });
});

test("a change whose response was lost isn't reported as stale: it would be repeated", async () => {
  const changing = { method: "PUT", body: {}, headers: { "if-match": '"1"' } };
  const stale = () => problemResponse(412, "stale");
  const after = (first: () => Response | Error) =>
    caller(stubService((_, count) => (count === 1 ? first() : stale())));
  await assert.rejects(after(lost).make(changing), { code: "provider_unreachable", problem: undefined });
  const turnedAway = () => problemResponse(429, "too-many", {}, { "retry-after": "0" });
  await assert.rejects(after(turnedAway).make(changing), { code: "provider_refused" });
  await assert.rejects(after(stale).make(changing), { code: "provider_refused" });
});

test("a caller who aborts isn't kept waiting", async () => {
  const controller = new AbortController();
  const service = stubService(() => {
    controller.abort();
    return lost();
  });
  await assert.rejects(caller(service).make({ signal: controller.signal }), { code: "provider_unreachable" });
  assert.equal(service.asked.length, 1);
  await pause(60_000, controller.signal);
  const later = new AbortController();
  const waiting = pause(60_000, later.signal);
  later.abort();
  await waiting;
});

test("a problem names the invalid members; anything else is an unexpected response", async () => {
  const errors = [{ path: "/name", message: "is missing" }, { path: 1 }, "x"];
  const refusing = stubService(() =>
    problemResponse(422, "invalid", { title: "Unusable", detail: "Look here.", errors }),
  );
  await assert.rejects(caller(refusing).make(), {
    code: "provider_refused",
    message: "Unusable. Look here. /name is missing",
    problem: {
      code: "invalid",
      status: 422,
      title: "Unusable",
      detail: "Look here.",
      instance: "test-1",
      errors: [errors[0]],
    },
  });
  for (const answer of [
    () => new Response("<h1>", { status: 404 }),
    () => jsonResponse({ type: "about:blank", title: "x" }, 403),
  ])
    await assert.rejects(caller(stubService(answer)).make(), {
      code: "provider_answer",
      problem: undefined,
    });
});

test("without keys nothing is signed", async () => {
  const service = stubService(() => jsonResponse({}));
  await createServiceClient(
    { ...settings, systemAccount: undefined },
    service,
  )({ method: "GET", target: "/x", isRepeatable: true });
  assert.equal(service.asked[0]?.headers.get("authorization"), null);
});
