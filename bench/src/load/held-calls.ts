// Thousands of calls that the server holds, as a process: opens them, and says when the first and the last were answered.
import { connect, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { answerQuestions } from "../child-side.ts";

export type StreamQuestion =
  | { kind: "open"; port: number; path: string; headers: Record<string, string>; count: number }
  /** Until every one is answered. */
  | { kind: "notified" };
/** `seconds` from the first answer to the last. */
export type StreamAnswer = { answers: number; seconds: number; firstError?: string };

/** So many at once, or the server's queue of new connections would be full. */
const atOnce = 200;
const settleMs = 1_500;

const open: Socket[] = [];
const answeredAt: number[] = [];
let firstError: string | undefined;
let isHeld = true;

async function openCalls({
  port,
  path,
  headers,
  count,
}: Extract<StreamQuestion, { kind: "open" }>): Promise<StreamAnswer> {
  const lines = Object.entries({ Host: `localhost:${port}`, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const request = `GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
  for (let made = 0; made < count; made += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - made) }, () => openCall(port, request));
    await Promise.all(some);
  }
  // The server reads the last ones.
  await pause(settleMs);
  if (firstError !== undefined) throw new Error(firstError);
  return { answers: 0, seconds: 0 };
}

function openCall(port: number, request: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host: "127.0.0.1", port, noDelay: true }, () => {
    socket.write(request);
    resolve();
  });
  socket.on("error", reject);
  socket.once("data", (bytes: Buffer) => {
    const head = bytes.toString("latin1", 0, 200);
    if (isHeld || !head.startsWith("HTTP/1.1 200")) firstError ??= `answered: ${head}`;
    answeredAt.push(performance.now());
    socket.destroy();
  });
  open.push(socket);
  return promise;
}

async function untilNotified(): Promise<StreamAnswer> {
  isHeld = false;
  for (const end = performance.now() + 20_000; answeredAt.length < open.length; await pause(20))
    if (performance.now() > end) break;
  const seconds = (Math.max(...answeredAt) - Math.min(...answeredAt)) / 1000;
  return { answers: answeredAt.length, seconds, ...(firstError === undefined ? {} : { firstError }) };
}

answerQuestions<StreamQuestion, StreamAnswer>({ port: 0 }, (question) =>
  question.kind === "open" ? openCalls(question) : untilNotified(),
);
