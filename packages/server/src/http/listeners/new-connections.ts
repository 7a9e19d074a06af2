/**
 * Node counts a connection as idle that was accepted a moment ago and whose first request is on its way, and cuts it when its
 * server closes: the client sees a reset. Here such connections are given the time in which a request arrives.
 */
import type { Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";

/** Some connections are opened in advance, as browsers do, and never send anything: a stop waits this long for them. */
const ARRIVES_MS = 300;

export function spareNewConnections(server: Server | SecureServer): void {
  const acceptedAt = new Map<Socket, number>();
  // TLS hands out another socket than the one that was accepted.
  const event = "setSecureContext" in server ? "secureConnection" : "connection";
  server.on(event, (socket: Socket) => {
    acceptedAt.set(socket, performance.now());
    socket.once("close", () => acceptedAt.delete(socket));
  });
  server.prependListener("request", ({ socket }) => acceptedAt.delete(socket));
  const closeIdleConnections = server.closeIdleConnections.bind(server);
  let retry: NodeJS.Timeout | undefined;
  server.closeIdleConnections = () => {
    clearTimeout(retry);
    const remaining = Math.max(0, ...acceptedAt.values()) + ARRIVES_MS - performance.now();
    if (remaining <= 0) closeIdleConnections();
    else retry = setTimeout(() => server.closeIdleConnections(), remaining);
  };
}
