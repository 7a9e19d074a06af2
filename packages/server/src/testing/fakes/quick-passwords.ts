/** Passwords without the cost of Argon2id, for suites that sign in often. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { PasswordHasher } from "../../core/passwords/password-hasher.ts";

export const quickPasswords: PasswordHasher = {
  hash: async (password) => sha256Base64url(password),
  verify: async (stored, password) => stored === sha256Base64url(password),
  needsRehash: () => false,
};
