import { randomSecret } from "@signet/protocol/hash";

/** A password for somebody else, to be told to them once: at least 120 bits, and as long as the organisation asks for. */
export function generatedPassword({ passwordMinLength }: { readonly passwordMinLength: number }): string {
  // Four characters for three bytes.
  return randomSecret("", Math.max(15, Math.ceil((passwordMinLength * 3) / 4)));
}
