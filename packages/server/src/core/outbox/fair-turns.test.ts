import assert from "node:assert/strict";
import { test } from "node:test";
import type { DueRow } from "./due-rows.store.ts";
import { fairTurns, type OutboxLimits } from "./fair-turns.ts";

const LIMITS: OutboxLimits = { all: 10, organisation: 4, queue: 2 };

/** Rows as the store finds them: `A1` is an organisation and its queue, the number of letters what is due there. */
function dueRows(...queues: string[]): DueRow[] {
  const places = new Map<string, number>();
  return queues.map((queue, index) => {
    const orgId = queue[0] ?? "";
    const place = (places.get(orgId) ?? 0) + 1;
    places.set(orgId, place);
    return { orgId, queue, place, id: `${queue}#${index}`, attempts: 0, nextAttemptAt: index };
  });
}
const queuesOf = (rows: DueRow[]) => rows.map(({ queue }) => queue).join(" ");

test("first rows of every organisation come before second ones of any", () => {
  const turns = fairTurns({ ...LIMITS, all: 4 });
  assert.equal(queuesOf(turns.begin(dueRows("A1", "A2", "A3", "B1", "C1"))), "A1 B1 C1 A2");
  assert.ok(!turns.hasRoom());
});

test("an organisation has its share under way and no more; one that waited longer goes first", () => {
  const turns = fairTurns({ ...LIMITS, all: 6 });
  const slow = turns.begin(dueRows("A1", "A2", "A3", "A4", "A5", "A6"));
  assert.equal(queuesOf(slow), "A1 A2 A3 A4");
  assert.deepEqual(turns.full(), ["A"]);
  const [first] = turns.begin(dueRows("B1", "A9"));
  assert.equal(first?.queue, "B1");
  turns.end(slow[0] as DueRow);
  assert.deepEqual(turns.full(), []);
  turns.begin(dueRows("A7"));
  turns.end(first as DueRow);
  assert.equal(queuesOf(turns.begin(dueRows("A5", "B2", "C1"))), "C1 B2");
});

test("a backlog of many organisations keeps no newcomer waiting", () => {
  const turns = fairTurns({ ...LIMITS, all: 2 });
  const backlog = ["A1", "B1", "C1"];
  const served: string[] = [];
  for (const newcomer of [[], [], ["D1"], ["D1"], []]) {
    const begun = turns.begin(dueRows(...backlog, ...newcomer));
    served.push(queuesOf(begun));
    for (const row of begun) turns.end(row);
  }
  assert.deepEqual(served, ["A1 B1", "C1 A1", "D1 B1", "C1 A1", "B1 C1"]);
});

test("a queue that hangs leaves the organisation's other queues their places", () => {
  const turns = fairTurns(LIMITS);
  assert.equal(queuesOf(turns.begin(dueRows("A1", "A1", "A1", "A2"))), "A1 A1 A2");
  assert.equal(queuesOf(turns.begin(dueRows("A1", "A2", "A2"))), "A2");
});
