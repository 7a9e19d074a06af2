/** Ports on this machine for the servers that tests start. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below the range that systems take the ports of outgoing connections, and of servers that ask for any port, from: none of
 * those takes a port between our look at it and the server's start, or while a server that was ended is started again.
 */
const LOWEST_PORT = 10_000;
const PORTS = 22_000;

/** Each process goes round from a place of its own, so that it names no port twice and hardly one that another is about to use. */
let next = randomInt(PORTS);

/**
 * @param count how many in a row are wanted
 * @returns the first; nothing listened at them a moment ago
 * @throws Error when there is none
 */
export async function freePort(count = 1): Promise<number> {
  for (let tried = 0; tried < PORTS; tried += count) {
    if (next + count > PORTS) next = 0;
    const first = LOWEST_PORT + next;
    next += count;
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first;
  }
  throw new Error("no free port on this machine");
}

const isFree = async (port: number): Promise<boolean> =>
  (await canListen(port, "127.0.0.1")) && (await canListen(port, "::1"));

/** An address that the machine does not have, as ::1 in many containers, is in nobody's way. */
function canListen(port: number, host: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "EADDRINUSE"));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
