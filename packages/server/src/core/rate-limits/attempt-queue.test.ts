import assert from "node:assert/strict";
import { test } from "node:test";
import { duringRequest } from "../audit/audited-request.ts";
import { createAttemptQueue } from "./attempt-queue.ts";

test("a guess says that it waits when it does, not when too many wait already", async () => {
  const queue = createAttemptQueue({ maxWaitingPerKey: 1 });
  const waits: string[] = [];
  const wait = (requestId: string) =>
    duringRequest({ requestId, userAgent: undefined, onWait: () => waits.push(requestId) }, () =>
      queue.wait("key", { isFirst: false, deadline: queue.deadline() }),
    );
  const first = wait("first");
  assert.equal(await wait("second"), false);
  assert.deepEqual(waits, ["first"]);
  queue.wake("key");
  assert.equal(await first, true);
});
