import type { CountActivity } from "../../../core/activity/kinds.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Encryption } from "../../../core/encryption/encryption.ts";
import type { SigningPoolDirectory } from "../../../core/signing-pools/directory.ts";
import type { Database } from "../../../db/open.ts";
import type { WakeUp } from "../notify/wake-up.ts";

/** What settles a request whose time is over. */
export interface LapseDeps {
  readonly database: Database;
  /** The database's time. */
  readonly clock: Clock;
  readonly wakeUp: Pick<WakeUp, "wake">;
  readonly count: CountActivity;
}

/** What each step of a signing request works with. */
export interface RequestDeps extends LapseDeps {
  readonly encryption: Encryption;
  readonly pools: Pick<SigningPoolDirectory, "find" | "published">;
  /** By kid, the `last_token_exp` that this node has seen committed: it is only ever raised. */
  readonly notedExps: Map<string, number>;
}
