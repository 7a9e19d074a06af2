import { randomSecret } from "@signet/protocol/hash";
import type { PasswordHasher } from "./password-hasher.ts";

/** A password for somebody else, to be told to them once: at least 120 bits, and as long as the organisation asks for. */
export function generatedPassword({ passwordMinLength }: { readonly passwordMinLength: number }): string {
  // Four characters for three bytes.
  return randomSecret("", Math.max(15, Math.ceil((passwordMinLength * 3) / 4)));
}

/** Its hash takes a while: made before a transaction begins, it keeps nobody waiting for the transaction's end. */
export async function hashedAlready(passwords: PasswordHasher, password: string): Promise<PasswordHasher> {
  const hash = await passwords.hash(password);
  return { ...passwords, hash: async (other) => (other === password ? hash : passwords.hash(other)) };
}
