import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRequest } from "./api-types.ts";
import { ApiRefusal, recordApi } from "./record-api.ts";

test("a record is replaced as it was read, and a change of somebody else's in between is told", async () => {
  const sent: ApiRequest[] = [];
  let etag = '"1"';
  const api = recordApi(async (request) => {
    sent.push(request);
    if (request.method === "GET") return { status: 200, body: { a: 1, b: 2 }, etag };
    if (request.ifMatch === etag) return { status: 200, body: request.body };
    return { status: 412, body: { type: "urn:signet:error:stale", title: "The record was changed" } };
  }, "01998d70-0000-7d3a-8a4b-6f0e2d9c7b15");
  assert.deepEqual(await api.replace("/sign-in", (before) => ({ ...before, b: 3 })), { a: 1, b: 3 });
  assert.deepEqual(
    sent.map(({ method, ifMatch }) => [method, ifMatch]),
    [
      ["GET", undefined],
      ["PUT", '"1"'],
    ],
  );
  const overtaken = api.replace("/sign-in", (before) => {
    etag = '"2"';
    return before;
  });
  await assert.rejects(overtaken, (error) => error instanceof ApiRefusal && error.status === 412);
});
