import assert from "node:assert/strict";
import { test } from "node:test";
import { requestLine } from "./log.ts";

const line = (address: string) =>
  requestLine(
    {
      ...{ requestId: "n-1", method: "GET", route: "/:org", status: 200, durationMs: 1.5 },
      ...{ orgId: undefined, clientId: undefined, address, traceId: undefined },
    },
    "2026-11-27T10:20:30.400Z",
  );

test("an address that a proxy sent neither ends its line nor adds a member to it, and is short", () => {
  for (const address of ["203.0.113.9", "fe80::1%eth0", 'x","status":500,"a":"', "a\nb", "\\"]) {
    const written = line(address);
    assert.equal(written.indexOf("\n"), written.length - 1);
    const read = JSON.parse(written) as Record<string, unknown>;
    assert.deepEqual([read["address"], read["status"], "a" in read], [address, 200, false]);
  }
  assert.equal((JSON.parse(line("9".repeat(500))) as { address: string }).address.length, 64);
});
