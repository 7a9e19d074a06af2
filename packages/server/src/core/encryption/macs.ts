/** Values that are given out and come back, proven by HMAC-SHA-256 under a ring of keys. */
import { createHmac } from "node:crypto";
import { constantTimeEqual } from "@signet/protocol/hash";
import { isOfRing, type KeyRing } from "./key-ring.ts";

export interface Macs {
  /** base64url */
  of(text: string): string;
  isOf(text: string, presented: string): boolean;
}

export function macs(keys: KeyRing): Macs {
  const mac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest("base64url");
  return {
    of: (text) => mac(keys.all()[0], text),
    isOf: (text, presented) => isOfRing(keys, (key) => constantTimeEqual(mac(key, text), presented)),
  };
}
