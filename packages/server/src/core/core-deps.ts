/** Dependencies of most acts on stored records. */
import type { Database } from "../db/open.ts";
import type { Clock } from "./clock.ts";

export interface CoreDeps {
  readonly database: Database;
  readonly clock: Clock;
}
