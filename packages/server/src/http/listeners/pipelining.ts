/**
 * Requests that a connection sends without waiting for its answers (RFC 9112 §9.3.2). node:http handles all that arrive in
 * one piece, and keeps their answers until it is their turn: hundreds fit into a few kilobytes.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

const MAX_QUEUED = 8;

/** @returns whether a request may be handled; otherwise its connection is cut, and the client may repeat it on another */
export type AdmitsRequest = (request: IncomingMessage, response: ServerResponse) => boolean;

export function pipelineLimit(max = MAX_QUEUED): AdmitsRequest {
  const queued = new WeakMap<Socket, number>();
  return ({ socket }, response) => {
    // An answer has its socket at once, unless another one is before it. Nearly every request ends here.
    if (response.socket) return true;
    const waiting = queued.get(socket) ?? 0;
    if (waiting >= max) socket.destroy();
    if (socket.destroyed) return false;
    queued.set(socket, waiting + 1);
    response.once("finish", () => queued.set(socket, (queued.get(socket) ?? 1) - 1));
    return true;
  };
}
