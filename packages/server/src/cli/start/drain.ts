/**
 * The end of a server that has clients: load balancers and keep-alive clients leave first, then the listeners close, and
 * what still runs gets a last moment. No connection is reset that a client might just have sent a request on.
 */
import type { Server } from "node:http";
import type { FastifyInstance } from "fastify";
import { STOPPING } from "../../http/server.ts";
import type { OpenListeners } from "../../modules/certificate-listeners.ts";

/** After the listeners have closed, for requests in progress. */
const FINISH_MS = 2_000;

/** Where clients come in every one, the listeners close all the same. */
const MOST_TURNS = 500;

/**
 * @param listeningSeconds how long the listeners stay open for clients that have not heard yet; readiness already says no
 */
export async function drain(
  app: FastifyInstance,
  listeners: OpenListeners,
  listeningSeconds: number,
): Promise<void> {
  closeAfterResponse(app.server);
  await new Promise((resolve) => setTimeout(resolve, listeningSeconds * 1000));
  if (listeningSeconds > 0) await nobodyConnects(app.server);
  // A client that never finishes must not block the shutdown.
  const cut = setTimeout(() => {
    app.server.closeAllConnections();
    listeners.closeAllConnections();
  }, FINISH_MS);
  await app.close();
  clearTimeout(cut);
}

/**
 * A turn of the event loop in which no connection comes: what waits to be accepted when a listener closes is reset by the
 * kernel, and clients that were told to leave may come back at once.
 */
async function nobodyConnects(server: Server): Promise<void> {
  let hasCome = false;
  const come = () => {
    hasCome = true;
  };
  server.on("connection", come);
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    hasCome = false;
    // Connections are accepted between two of these.
    await new Promise((resolve) => setImmediate(resolve));
    if (!hasCome) break;
  }
  server.off("connection", come);
}

/** Every response says `Connection: close` (RFC 9112 §9.6). The other listeners hand their requests to this server. */
function closeAfterResponse(server: Server): void {
  server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false;
  });
  server.emit(STOPPING);
}
