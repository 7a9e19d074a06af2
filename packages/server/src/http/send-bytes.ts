/**
 * Answers from bytes that exist once. Large ones go out in pieces, each after the one before it was read: TLS encrypts
 * whatever it is given at once, and a caller who does not read would hold all of it.
 */
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";

const PIECE = 32 * 1024;

/** Ends a response that has its head; the client may hang up at any time. */
export function endWithBytes(response: ServerResponse, bytes: Buffer, from = 0): void {
  let at = from;
  while (bytes.length - at > PIECE) {
    const goesOn = response.write(bytes.subarray(at, at + PIECE));
    at += PIECE;
    if (!goesOn) return void response.once("drain", () => endWithBytes(response, bytes, at));
  }
  response.end(bytes.subarray(at));
}

/** The same for a route. */
export async function sendBytes(reply: FastifyReply, bytes: Buffer): Promise<void> {
  if (bytes.length <= PIECE) await reply.send(bytes);
  else
    await reply
      .header("content-length", bytes.length)
      .send(Readable.from(pieces(bytes), { objectMode: false, highWaterMark: PIECE }));
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}
