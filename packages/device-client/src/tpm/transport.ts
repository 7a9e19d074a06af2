/** The way to a TPM: one command, one response. */
import { open } from "node:fs/promises";
import { openSocketTransport } from "./socket-transport.ts";

export interface TpmTransport {
  /** One at a time. @throws Error when the TPM, or what stands before it, does not answer */
  exchange(command: Buffer): Promise<Buffer>;
  close(): Promise<void>;
}

/** Where a TPM is: `/dev/tpmrm0`, `tcp:HOST:PORT`, `unix:PATH`. */
export type TpmPlace =
  | { readonly kind: "device"; readonly path: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

export const DEFAULT_TPM = "/dev/tpmrm0";

/** @returns undefined for what is none */
export function readTpmPlace(text: string): TpmPlace | undefined {
  if (text.startsWith("/")) return { kind: "device", path: text };
  if (text.startsWith("unix:/")) return { kind: "unix", path: text.slice("unix:".length) };
  const [, host, port] = /^tcp:(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) return undefined;
  return { kind: "tcp", host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

/** @throws Error that names the place */
export async function openTransport(place: TpmPlace): Promise<TpmTransport> {
  if (place.kind !== "device") return await openSocketTransport(place);
  return await openDevice(place.path);
}

/** As large as the kernel's own buffer. */
const MOST_RESPONSE = 4096;

async function openDevice(path: string): Promise<TpmTransport> {
  const file = await open(path, "r+").catch((cause: unknown) => {
    throw new Error(`the TPM ${path} cannot be opened (docs/device-client.md tells of its permissions)`, {
      cause,
    });
  });
  return {
    exchange: async (command) => {
      // The driver wants the whole command in one write, and gives the whole response to one read.
      const { bytesWritten } = await file.write(command, 0, command.length, null);
      if (bytesWritten !== command.length) throw new Error(`the TPM ${path} took only a part of a command`);
      const { bytesRead, buffer } = await file.read(Buffer.alloc(MOST_RESPONSE), 0, MOST_RESPONSE, null);
      return buffer.subarray(0, bytesRead);
    },
    close: () => file.close(),
  };
}
