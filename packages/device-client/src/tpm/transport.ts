/** Opens the way to a TPM. */
import { open } from "node:fs/promises";
import { openSocketTransport } from "./socket-transport.ts";
import type { TpmPlace, TpmTransport } from "./tpm-place.ts";

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
