/** `request.pem` of a generation: a certificate signing request that is kept until it is answered. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { csrPem } from "@signet/protocol/csr/make-csr";
import { type DeviceKey, requestFor } from "./keys/device-key.ts";
import { createPrivateFile } from "./state/private-file.ts";

const FILE = "request.pem";

export interface RequestFile {
  readonly pem: string;
  readonly der: Buffer;
}

export async function writeRequest(folder: string, key: DeviceKey): Promise<void> {
  await createPrivateFile(path.join(folder, FILE), csrPem(await requestFor(key)));
}

export async function readRequest(folder: string): Promise<RequestFile> {
  const pem = await readFile(path.join(folder, FILE), "utf8");
  return { pem, der: Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64") };
}
