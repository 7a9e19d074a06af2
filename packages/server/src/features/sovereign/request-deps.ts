import type { Clock } from "../../core/clock.ts";
import type { Encryption } from "../../core/encryption/encryption.ts";
import type { Database } from "../../db/open.ts";
import type { WakeUp } from "./wake-up.ts";

/** What each step of a signing request works with. */
export interface RequestDeps {
  readonly database: Database;
  readonly encryption: Encryption;
  /** The database's time. */
  readonly clock: Clock;
  readonly wakeUp: Pick<WakeUp, "wake">;
}
