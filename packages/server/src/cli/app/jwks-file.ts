/** Reads a client's public keys from a file: a JWK Set or a single JWK. */
import { readFileSync, statSync } from "node:fs";
import { errorMessage } from "../error-message.ts";

const MAX_BYTES = 64 * 1024;

/** @throws Error naming the file; core validates the keys */
export function readJwksFile(path: string): unknown {
  let value: unknown;
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error("the file is larger than 64 KiB");
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`--jwks ${path}: ${errorMessage(error)}`);
  }
  const isOneKey = typeof value === "object" && value !== null && "kty" in value;
  return isOneKey ? { keys: [value] } : value;
}
