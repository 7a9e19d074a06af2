/** A TLS connection whose client certificate belongs to a key that only signs. */
import { once } from "node:events";
import net from "node:net";
import { Duplex } from "node:stream";
import tls from "node:tls";
import { type ClientFlight, type ClientIdentity, clientFlight } from "./client-flight.ts";
import { OFFERED_CIPHERS } from "./record-protection.ts";

export interface SignedConnectionOptions {
  readonly host: string;
  readonly port: number;
  /** PEM, in place of the system's roots. */
  readonly ca?: string | string[] | undefined;
  readonly identity: ClientIdentity;
  readonly signal: AbortSignal;
}

/**
 * @returns the connection, its service verified and this client's flight on its way. A service that refuses the certificate
 *   says so afterwards (RFC 8446 §4.4.2.4): the first read fails.
 * @throws Error as `tls.connect` does, and TlsFault: TLS 1.3 is needed, since 1.2 signs before the service is known
 */
export async function connectSigned(options: SignedConnectionOptions): Promise<tls.TLSSocket> {
  const { host, port, ca, identity, signal } = options;
  signal.throwIfAborted();
  const socket = net.connect({ host, port });
  const giveUp = () => socket.destroy(new Error("given up"));
  signal.addEventListener("abort", giveUp);
  socket.once("close", () => signal.removeEventListener("abort", giveUp));
  try {
    await once(socket, "connect");
    const verified = Promise.withResolvers<void>();
    verified.promise.catch(() => undefined);
    const flight = clientFlight(identity, verified.promise);
    const secured = tls.connect({
      socket: between(socket, flight),
      // RFC 6066 §3: no address as a name; the certificate is compared with `host` all the same.
      ...(net.isIP(host) ? { host } : { servername: host }),
      ...(ca === undefined ? {} : { ca }),
      minVersion: "TLSv1.3",
      ciphers: OFFERED_CIPHERS,
      rejectUnauthorized: true,
    });
    secured.on("keylog", (line: Buffer) => flight.keylog(line.toString("latin1")));
    // Stays: an error that comes when nobody reads any more must not end the program.
    secured.on("error", verified.reject);
    await once(secured, "secureConnect");
    if (!secured.authorized)
      throw new Error(`the service's certificate is not trusted: ${secured.authorizationError}`);
    verified.resolve();
    return secured;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** What OpenSSL takes for the network. */
function between(socket: net.Socket, flight: ClientFlight): Duplex {
  const side = new Duplex({
    read: () => void socket.resume(),
    write: (bytes: Buffer, _encoding, done) => {
      // OpenSSL must not wait: it writes its last message before the service's name has been looked at.
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
