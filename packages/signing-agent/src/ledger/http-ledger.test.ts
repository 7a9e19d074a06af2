import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { httpLedger } from "./http-ledger.ts";

test("the agent's key goes to its own service, and to no other ledger", async (t) => {
  const seen: Array<string | undefined> = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end("checkpoint");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/ledger/a`;
  const apiKey = "sgn_ak_x";
  await httpLedger(url, { service: `http://127.0.0.1:${port}/base`, apiKey })("checkpoint");
  await httpLedger(url, { service: `http://localhost:${port}`, apiKey })("checkpoint");
  await httpLedger(url)("checkpoint");
  assert.deepEqual(seen, ["Bearer sgn_ak_x", undefined, undefined]);
});
