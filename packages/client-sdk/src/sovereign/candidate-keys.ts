import type { JWK } from "jose";
import type { TokenKeyHeader } from "../tokens/key-source.ts";

/** Where a key is looked up, before it is judged. */
export interface CandidateKeys {
  /** The one key of a header, the same object as long as it is the same key. Throws as `KeySource.keyFor`. */
  jwkFor(header: TokenKeyHeader): Promise<JWK>;
}
