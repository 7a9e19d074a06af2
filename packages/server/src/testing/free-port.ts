/** Ports on this machine for the servers that tests start. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below the ephemeral range, from which the system assigns ports of outgoing connections and of servers on port 0: none of
 * those takes a port between our check and the server's start, or during a restart. Above
 * the last port that browsers and `fetch` block (10080; Fetch Standard §2.9).
 */
const LOWEST_PORT = 10_200;
const PORTS = 21_800;

/** A process takes this many at a time, which no other one takes meanwhile: about as many as the tests of a group ask for. */
export const BLOCK = 200;
const BLOCKS = PORTS / BLOCK;

/** The reserved ports: `next` is the next to return, or lies past the block's end. */
let next = 0;
let end = 0;

/**
 * @param count how many in a row are wanted
 * @returns the first; nothing listened at them a moment ago, and no other process of ours is told of them while this one lives
 * @throws Error when there is none
 */
export async function freePort(count = 1): Promise<number> {
  for (let tried = 0; tried < PORTS; tried += count) {
    if (next + count > end) await claimed();
    const first = next;
    next += count;
    // Others of this process may have taken the rest of the block while it was claimed.
    if (next > end) continue;
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first;
  }
  throw new Error("no free port on this machine");
}

let claiming: Promise<void> | undefined;

/** Shared by concurrent callers. */
function claimed(): Promise<void> {
  claiming ??= claimBlock().finally(() => {
    claiming = undefined;
  });
  return claiming;
}

/**
 * Whoever listens at a block's first port has the rest of it. The system gives that port back when the process ends, of
 * whatever cause.
 */
async function claimBlock(): Promise<void> {
  const start = randomInt(BLOCKS);
  for (let index = 0; index < BLOCKS; index += 1) {
    const first = LOWEST_PORT + ((start + index) % BLOCKS) * BLOCK;
    if (await isOurs(first)) {
      next = first + 1;
      end = first + BLOCK;
      return;
    }
  }
  throw new Error("every block of ports on this machine is taken");
}

function isOurs(port: number): Promise<boolean> {
  const claim = createServer((socket) => socket.destroy()).unref();
  return new Promise((resolve) => {
    claim.once("error", () => resolve(false));
    claim.listen({ port, host: "127.0.0.1", exclusive: true }, () => resolve(true));
  });
}

const isFree = async (port: number): Promise<boolean> =>
  (await canListen(port, "127.0.0.1")) && (await canListen(port, "::1"));

/** An address that the machine doesn't have, such as ::1 in many containers, counts as free. */
function canListen(port: number, host: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "EADDRINUSE"));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
