/** `request.pem` of a generation: a PKCS #10 request, kept until it is answered. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { createPrivateFile } from "@signet/cli-runtime/private-file";
import { csrPem, makeCsr } from "@signet/protocol/csr/make-csr";
import type { DeviceKey } from "../keys/file-key.ts";

const FILE = "request.pem";

export interface CertificateRequest {
  readonly pem: string;
  readonly der: Buffer;
}

export async function writeRequest(folder: string, { spki, sign }: DeviceKey): Promise<void> {
  const der = await makeCsr({ spki, algorithm: "ecdsa-sha256", sign });
  await createPrivateFile(path.join(folder, FILE), csrPem(der));
}

export async function readRequest(folder: string): Promise<CertificateRequest> {
  const pem = await readFile(path.join(folder, FILE), "utf8");
  return { pem, der: Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64") };
}
