/** Experimental: a TLS connection whose client key can only sign (client-flight.ts). */
import { once } from "node:events";
import net from "node:net";
import { Duplex } from "node:stream";
import tls from "node:tls";
import { type ClientFlight, type ClientIdentity, clientFlight } from "./client-flight.ts";
import { OFFERED_CIPHERS } from "./record-protection.ts";

export interface SignedConnectionOptions {
  readonly host: string;
  readonly port: number;
  /** PEM, instead of the system's roots. */
  readonly ca?: string | string[] | undefined;
  readonly identity: ClientIdentity;
  readonly signal: AbortSignal;
}

/**
 * @returns the connection after the server was verified. A server that refuses the client's certificate says so later
 *   (RFC 8446 §4.4.2.4): the first read fails.
 * @throws Error as `tls.connect` does, and TlsFault. TLS 1.3 is required: in 1.2 the client signs before the server is known
 */
export async function connectSigned(options: SignedConnectionOptions): Promise<tls.TLSSocket> {
  const { host, port, ca, identity, signal } = options;
  signal.throwIfAborted();
  const socket = net.connect({ host, port });
  const cancel = () => socket.destroy(new Error("cancelled"));
  signal.addEventListener("abort", cancel);
  socket.once("close", () => signal.removeEventListener("abort", cancel));
  try {
    await once(socket, "connect");
    const verified = Promise.withResolvers<void>();
    verified.promise.catch(() => undefined);
    const flight = clientFlight(identity, verified.promise);
    const secured = tls.connect({
      socket: interceptedStream(socket, flight),
      // RFC 6066 §3: an address is not a server name; the certificate is still compared with `host`.
      ...(net.isIP(host) ? { host } : { servername: host }),
      ...(ca === undefined ? {} : { ca }),
      minVersion: "TLSv1.3",
      ciphers: OFFERED_CIPHERS,
      rejectUnauthorized: true,
    });
    secured.on("keylog", (line: Buffer) => flight.keylog(line.toString("latin1")));
    // Never removed: a late error must not end the process.
    secured.on("error", verified.reject);
    await once(secured, "secureConnect");
    if (!secured.authorized)
      throw new Error(`the server's certificate is not trusted: ${secured.authorizationError}`);
    verified.resolve();
    return secured;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The network as OpenSSL sees it. */
function interceptedStream(socket: net.Socket, flight: ClientFlight): Duplex {
  const side = new Duplex({
    read: () => void socket.resume(),
    write: (bytes: Buffer, _encoding, done) => {
      // OpenSSL must not wait: it writes its last message before the server's name is checked.
      done();
      sending = sending.then(async () => {
        const sent = await flight.fromClient(bytes);
        if (sent.length > 0) socket.write(sent);
      });
      sending.catch((error: Error) => side.destroy(error));
    },
    final: (done) => {
      sending.then(
        () => socket.end(done),
        () => done(),
      );
    },
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  let sending: Promise<void> = Promise.resolve();
  socket.on("data", (bytes: Buffer) => {
    try {
      flight.fromServer(bytes);
    } catch (error) {
      side.destroy(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (!side.push(bytes)) socket.pause();
  });
  socket.on("end", () => side.push(null));
  socket.on("error", (error) => side.destroy(error));
  return side;
}
