/** Where a TPM is, and what a way to it does: one command, one response. */

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
