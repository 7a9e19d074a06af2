/** Where a TPM is: `/dev/tpmrm0`, `tcp:HOST:PORT` or `unix:PATH`. */
export type TpmLocation =
  | { readonly kind: "device"; readonly path: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

export const DEFAULT_TPM = "/dev/tpmrm0";

/** @returns undefined for an invalid location */
export function parseTpmLocation(text: string): TpmLocation | undefined {
  if (text.startsWith("/")) return { kind: "device", path: text };
  if (text.startsWith("unix:/")) return { kind: "unix", path: text.slice("unix:".length) };
  const [, host, port] = /^tcp:(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) return undefined;
  return { kind: "tcp", host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}
