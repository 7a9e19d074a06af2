/** Opens the listeners beside the ordinary one: same routes, same bounds, and closed with the rest. */
import type { Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config/config.ts";
import type { CertificateListeners } from "../config/listener-settings.ts";
import { networkPrefix } from "../core/rate-limits/rate-limits.ts";
import {
  boundConnections,
  type ConnectionBounds,
  type CutConnections,
} from "../http/listeners/connection-bounds.ts";
import { mtlsListener } from "../http/listeners/mtls-listener.ts";
import { spareNewConnections } from "../http/listeners/new-connections.ts";
import { proxyListener } from "../http/listeners/proxy-listener.ts";

export interface ListenerEvents {
  /** A new certificate of the server's own is in use. */
  reloaded(): void;
  /** It could not be read: the one before stays. */
  failed(error: unknown): void;
  refused(cause: string): void;
  cut?(connections: CutConnections): void;
}

export interface OpenListeners {
  listen(): Promise<void>;
  /** Looks at the files of the server's own certificate now. */
  reload(): Promise<void>;
  /** Cuts what is still open. */
  closeAllConnections(): void;
}

interface Opened {
  readonly server: Server | SecureServer;
  readonly port: number;
  readonly host: string;
}

const LOOK_MS = 60_000;
const IDLE_MS = 50;

/** Before the app is ready, as it hangs on the app's end. @throws when the server's certificate cannot be used */
export async function openCertificateListeners(
  app: FastifyInstance,
  settings: CertificateListeners & Pick<Config, "trustedProxies">,
  events: ListenerEvents,
  bounds?: ConnectionBounds,
): Promise<OpenListeners> {
  const { mtls, certificateProxy, trustedProxies } = settings;
  const opened: Opened[] = [];
  const secure = mtls && (await mtlsListener(mtls));
  if (mtls && secure) {
    secure.server.on("request", (request, response) => app.server.emit("request", request, response));
    opened.push({ ...mtls, server: secure.server });
  }
  if (certificateProxy) {
    const server = proxyListener({
      ...certificateProxy,
      refused: events.refused,
      answer: (request, response) => app.server.emit("request", request, response),
    });
    opened.push({ ...certificateProxy, server });
  }
  const connections = new Set<Socket>();
  for (const { server } of opened) {
    // Only proxies reach the listener for them.
    const exempt = server === secure?.server ? trustedProxies : (certificateProxy?.trusted ?? []);
    const report = (cut: CutConnections) => events.cut?.(cut);
    boundConnections(server, { exempt, networkOf: networkPrefix, report }, bounds);
    spareNewConnections(server);
    server.on("clientError", (error, socket) => app.server.emit("clientError", error, socket));
    server.on("connection", (socket: Socket) => {
      connections.add(socket);
      socket.once("close", () => connections.delete(socket));
    });
  }
  const reload = async () => {
    try {
      if (await secure?.reload()) events.reloaded();
    } catch (error) {
      events.failed(error);
    }
  };
  const look = secure && setInterval(() => void reload(), LOOK_MS).unref();
  app.addHook("onClose", async () => clearInterval(look));
  closeWithTheApp(app, opened);
  return {
    listen: async () => void (await Promise.all(opened.map(listen))),
    reload,
    // Not the servers' own lists: what is still in its TLS handshake is not in them, and would keep the node for ten seconds.
    closeAllConnections: () => {
      for (const socket of connections) socket.destroy();
    },
  };
}

function listen({ server, port, host }: Opened): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** No new connections when the end begins; what is under way is finished before storage is closed. */
function closeWithTheApp(app: FastifyInstance, opened: readonly Opened[]): void {
  let closed: Promise<unknown> = Promise.resolve();
  let release: NodeJS.Timeout | undefined;
  app.addHook("preClose", (done) => {
    closed = Promise.all(
      opened.map(({ server }) => new Promise<void>((resolve) => server.close(() => resolve()))),
    );
    // A connection whose last request has just been answered is idle now, and would wait for the next one.
    release = setInterval(() => {
      for (const { server } of opened) server.closeIdleConnections();
    }, IDLE_MS);
    done();
  });
  app.addHook("onClose", async () => {
    await closed;
    clearInterval(release);
  });
}
