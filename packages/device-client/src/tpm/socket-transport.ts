/** A TPM behind a socket: what swtpm calls its data channel, bytes as a device would take them. */
import { once } from "node:events";
import net from "node:net";
import { responseLength } from "./command.ts";
import type { TpmTransport } from "./tpm-place.ts";

type SocketPlace =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** A TPM may take that long to find the primes of an RSA key. */
const ANSWER_MS = 90_000;
const CONNECT_MS = 10_000;
const MOST_RESPONSE = 65_536;

/** @throws Error that names the place */
export async function openSocketTransport(place: SocketPlace, answerMs = ANSWER_MS): Promise<TpmTransport> {
  const shown = place.kind === "unix" ? `unix:${place.path}` : `tcp:${place.host}:${place.port}`;
  const socket =
    place.kind === "unix"
      ? net.connect({ path: place.path })
      : net.connect({ host: place.host, port: place.port });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_MS) });
  } catch (cause) {
    socket.destroy();
    throw new Error(`the TPM at ${shown} cannot be reached`, { cause });
  }
  socket.setNoDelay(true);
  // Between two commands nobody listens: it is told at the next one.
  socket.on("error", () => undefined);
  return {
    exchange: (command) => exchange(socket, command, { shown, answerMs }),
    close: async () => {
      socket.destroy();
    },
  };
}

function exchange(
  socket: net.Socket,
  command: Buffer,
  { shown, answerMs }: { shown: string; answerMs: number },
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let received: Buffer = Buffer.alloc(0);
  const fail = (reason: string) => {
    // What comes later would be taken for the answer to another command.
    socket.destroy();
    reject(new Error(`the TPM at ${shown} ${reason}`));
  };
  const onData = (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    const length = responseLength(received) ?? Number.POSITIVE_INFINITY;
    if (
      length !== Number.POSITIVE_INFINITY &&
      (length < 10 || length > MOST_RESPONSE || received.length > length)
    )
      fail("gave an answer that is none");
    else if (received.length === length) resolve(received);
  };
  const onClose = () => fail("hung up");
  const timer = setTimeout(() => fail(`gave no answer within ${answerMs / 1000} s`), answerMs);
  socket.on("data", onData).on("close", onClose);
  if (socket.destroyed) onClose();
  else socket.write(command);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.off("data", onData).off("close", onClose);
  });
}
