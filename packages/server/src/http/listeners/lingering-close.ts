/**
 * A connection that ends after a refused body is read on for a while: its client is writing still. Closed at once, the system would
 * answer the next bytes with a reset, and the client would hear of a broken pipe instead of the 413 (RFC 9112 §9.6).
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

export interface LingerBounds {
  /** Bytes that are read and thrown away. */
  readonly maxBytes: number;
  readonly maxMs: number;
}

const usual: LingerBounds = { maxBytes: 32 * 1024 * 1024, maxMs: 5_000 };

/** Of such requests of each connection. */
const latest = new WeakMap<Socket, IncomingMessage>();

/**
 * For requests whose body may be refused before its end, before anybody answers.
 * @param request the only one on its connection: another one behind it is not answered any more
 */
export function lingerAfter(request: IncomingMessage, { maxBytes, maxMs }: LingerBounds = usual): void {
  const { socket } = request;
  const isFirst = !latest.has(socket);
  latest.set(socket, request);
  if (!isFirst) return;
  const { destroySoon } = socket;
  // What node:http calls when an answer has said that the connection ends.
  socket.destroySoon = () => {
    if (latest.get(socket)?.complete !== false || socket.destroyed) return destroySoon.call(socket);
    let left = maxBytes;
    throwAway(socket, (bytes) => {
      left -= bytes.length;
      if (left < 0) socket.destroy();
    });
    const end = setTimeout(() => socket.destroy(), maxMs);
    socket.once("end", () => socket.destroy());
    socket.once("close", () => clearTimeout(end));
    socket.end();
  };
}

/** Adding a listener takes the socket back from the parser, which otherwise reads from it by itself. */
function throwAway(socket: Socket, count: (bytes: Buffer) => void): void {
  const parsers = socket.listeners("data") as Array<(bytes: Buffer) => void>;
  socket.on("data", count);
  for (const parser of parsers) socket.removeListener("data", parser);
  socket.resume();
}
