/** The public keys of a client from a file: a JWK Set, or one JWK on its own. */
import { readFileSync, statSync } from "node:fs";
import { reasonOf } from "../reason.ts";

const MAX_BYTES = 64 * 1024;

/** @throws Error naming the file; what the keys must be is the core's to say */
export function readJwksFile(path: string): unknown {
  let value: unknown;
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error("it is larger than 64 KiB");
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`--jwks ${path}: ${reasonOf(error)}`);
  }
  const isOneKey = typeof value === "object" && value !== null && "kty" in value;
  return isOneKey ? { keys: [value] } : value;
}
