import type { Database } from "../db/open.ts";
import type { Clock } from "./clock.ts";

/** What most acts on stored records need. */
export interface CoreDeps {
  readonly database: Database;
  readonly clock: Clock;
}
