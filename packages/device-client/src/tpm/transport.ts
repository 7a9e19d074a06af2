/** The connection to a TPM: its device, or a socket (swtpm's data channel), one command and one response at a time. */
import { once } from "node:events";
import { open } from "node:fs/promises";
import net from "node:net";
import { responseLength } from "./command.ts";

/** Where a TPM is: `/dev/tpmrm0`, `tcp:HOST:PORT` or `unix:PATH`. */
export type TpmLocation =
  | { readonly kind: "device"; readonly path: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

export const DEFAULT_TPM = "/dev/tpmrm0";

export interface TpmTransport {
  exchange(command: Buffer): Promise<Buffer>;
  close(): Promise<void>;
}

/** A TPM may take this long to find the primes of an RSA key. */
const ANSWER_TIMEOUT_MS = 90_000;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_SOCKET_RESPONSE = 65_536;
/** The kernel's own buffer. */
const MAX_DEVICE_RESPONSE = 4096;

export function parseTpmLocation(text: string): TpmLocation | undefined {
  if (text.startsWith("/")) return { kind: "device", path: text };
  if (text.startsWith("unix:/")) return { kind: "unix", path: text.slice("unix:".length) };
  const [, host, port] = /^tcp:(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) return undefined;
  return { kind: "tcp", host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

export async function openTransport(
  location: TpmLocation,
  timeoutMs = ANSWER_TIMEOUT_MS,
): Promise<TpmTransport> {
  if (location.kind === "device") return await openDevice(location.path);
  const isUnix = location.kind === "unix";
  const name = isUnix
    ? `the TPM at unix:${location.path}`
    : `the TPM at tcp:${location.host}:${location.port}`;
  const socket = net.connect(isUnix ? { path: location.path } : { host: location.host, port: location.port });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  } catch (cause) {
    socket.destroy();
    throw new Error(`${name} cannot be reached`, { cause });
  }
  socket.setNoDelay(true);
  // An error between two commands shows at the next one.
  socket.on("error", () => undefined);
  return {
    exchange: (command) => exchangeOverSocket(socket, command, name, timeoutMs),
    close: async () => {
      socket.destroy();
    },
  };
}

async function openDevice(path: string): Promise<TpmTransport> {
  const file = await open(path, "r+").catch((cause: unknown) => {
    throw new Error(`the TPM ${path} cannot be opened (permissions: docs/device-client.md)`, { cause });
  });
  return {
    exchange: async (command) => {
      // The driver expects the whole command in one write, and returns the whole response to one read.
      const { bytesWritten } = await file.write(command);
      if (bytesWritten !== command.length) throw new Error(`the TPM ${path} accepted only part of a command`);
      const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_DEVICE_RESPONSE));
      return buffer.subarray(0, bytesRead);
    },
    close: () => file.close(),
  };
}

function exchangeOverSocket(socket: net.Socket, command: Buffer, name: string, timeoutMs: number) {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let received: Buffer = Buffer.alloc(0);
  const fail = (reason: string) => {
    // Whatever came later would count as the answer to the next command.
    socket.destroy();
    reject(new Error(`${name} ${reason}`));
  };
  const onData = (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    const length = responseLength(received);
    if (length === undefined) return;
    if (length < 10 || length > MAX_SOCKET_RESPONSE || received.length > length)
      fail("gave an invalid answer");
    else if (received.length === length) resolve(received);
  };
  const onClose = () => fail("closed the connection");
  const timer = setTimeout(() => fail(`gave no answer within ${timeoutMs / 1000} s`), timeoutMs);
  socket.on("data", onData).on("close", onClose);
  if (socket.destroyed) onClose();
  else socket.write(command);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.off("data", onData).off("close", onClose);
  });
}
