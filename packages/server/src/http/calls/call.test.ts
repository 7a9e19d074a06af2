import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type Answer, writeAnswer } from "./call.ts";

/** As it arrives. */
async function received(answer: Answer) {
  const server = createServer((_request, response) => writeAnswer(response, answer, ["X-More", "1"]));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`);
  const bytes = Buffer.from(await response.arrayBuffer());
  server.close();
  return { status: response.status, headers: response.headers, bytes };
}

test("a body is UTF-8, whether all of it is ASCII or not, and its length is that of the bytes", async () => {
  for (const body of [
    "",
    '{"name":"Ada"}',
    '{"name":"Zo\u00eb"}',
    '{"name":"\u20ac \u{1f600}"}',
    "\u007f\u0080",
  ]) {
    const { headers, bytes } = await received({ status: 200, headers: ["Content-Type", "text/plain"], body });
    assert.deepEqual(bytes, Buffer.from(body, "utf8"));
    assert.equal(headers.get("content-length"), String(Buffer.byteLength(body)));
    assert.equal(headers.get("x-more"), "1");
  }
});

test("without a body there is no length of one", async () => {
  for (const status of [204, 304]) {
    const { headers, ...got } = await received({ status, headers: ["ETag", '"1"'], body: "" });
    assert.equal(got.status, status);
    assert.equal(headers.get("content-length"), null);
  }
});
