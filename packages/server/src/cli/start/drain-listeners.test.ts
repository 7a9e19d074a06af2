/** When the listeners close: not while clients come that were just told to leave. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { drain } from "./drain.ts";

const none = { listen: async () => {}, reload: async () => {}, closeAllConnections: () => {} };

/** @param comes whether a client comes in this turn of the event loop */
async function turnsUntilClosed(listeningSeconds: number, comes: (turn: number) => boolean): Promise<number> {
  const server = createServer();
  let turn = 0;
  let isOver = false;
  const next = () => {
    turn += 1;
    if (comes(turn)) server.emit("connection", new Socket());
    if (!isOver) setImmediate(next);
  };
  let closedAt = 0;
  const close = async () => {
    closedAt = turn;
  };
  const app = { server, close } as unknown as Parameters<typeof drain>[0];
  setTimeout(next, listeningSeconds * 1_000 - 1);
  await drain(app, none, listeningSeconds);
  isOver = true;
  return closedAt;
}

test("the listeners close in a turn of the event loop in which nobody connects", async () => {
  const closedAt = await turnsUntilClosed(0.05, (turn) => turn <= 40);
  assert.ok(closedAt >= 40, `${closedAt}`);
});

test("clients that come all the time don't keep them open", async () => {
  assert.ok((await turnsUntilClosed(0.05, () => true)) >= 100);
});
