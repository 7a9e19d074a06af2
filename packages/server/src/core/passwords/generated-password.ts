/** Passwords that the server generates for users. */
import { randomSecret } from "@signet/protocol/hash";
import type { PasswordHasher } from "./password-hasher.ts";

/** At least 120 bits, and the minimum length of the organisation. */
export function generatePassword({ passwordMinLength }: { readonly passwordMinLength: number }): string {
  // Four characters for three bytes.
  return randomSecret("", Math.max(15, Math.ceil((passwordMinLength * 3) / 4)));
}

/** Hashes a password before a transaction begins, so that the transaction stays short. */
export async function withPrecomputedHash(
  passwords: PasswordHasher,
  password: string,
): Promise<PasswordHasher> {
  const hash = await passwords.hash(password);
  return { ...passwords, hash: async (other) => (other === password ? hash : passwords.hash(other)) };
}
