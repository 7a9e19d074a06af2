import type { Clock } from "../../core/clock.ts";
import type { Encryption } from "../../core/encryption/encryption.ts";
import type { SigningPoolDirectory } from "../../core/signing-pools/directory.ts";
import type { Database } from "../../db/open.ts";
import type { WakeUp } from "./wake-up.ts";

/** What each step of a signing request works with. */
export interface RequestDeps {
  readonly database: Database;
  readonly encryption: Encryption;
  /** The database's time. */
  readonly clock: Clock;
  readonly wakeUp: Pick<WakeUp, "wake">;
  readonly pools: Pick<SigningPoolDirectory, "find" | "published">;
  /** By kid, the `last_token_exp` that this node has seen committed: it is only ever raised. */
  readonly notedExps: Map<string, number>;
}
