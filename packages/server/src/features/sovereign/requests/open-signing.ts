/**
 * Opens what signing requests need on this node. Every change of state is one conditional statement, so that any node may
 * make it; waiters are only notified to read again.
 */
import type { CountActivity } from "../../../core/activity/kinds.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Encryption } from "../../../core/encryption/encryption.ts";
import { databaseClock } from "../../../db/database-clock.ts";
import type { Database } from "../../../db/open.ts";
import { safetyPoll } from "../notify/safety-poll.ts";
import { openWakeUp } from "../notify/wake-up.ts";
import type { SigningDeps } from "./signing-request.ts";

export interface OpenSigningDeps extends Pick<SigningDeps, "pools" | "ledger"> {
  readonly database: Database;
  readonly encryption: Encryption;
  /** For tests; the default is the database's time, the same on every node. */
  readonly clock?: Clock;
  readonly count?: CountActivity;
}

export type OpenSigning = Awaited<ReturnType<typeof openSigning>>;

export async function openSigning(deps: OpenSigningDeps) {
  const { database, encryption, ledger, pools, count = () => {} } = deps;
  const sharedClock = deps.clock ? undefined : await databaseClock(database);
  const clock = deps.clock ?? sharedClock?.now ?? Date.now;
  const wakeUp = await openWakeUp(database);
  const poll = safetyPoll({ database, clock, wakeUp, count });
  const signing = {
    database,
    encryption,
    ledger,
    pools,
    clock,
    count,
    recordedExps: new Map(),
    poolSweeps: new Map(),
  };
  return {
    ...signing,
    wakeUp,
    /** Ends every wait. */
    close: async (): Promise<void> => {
      await wakeUp.close();
      await poll.stop();
      sharedClock?.close();
    },
  };
}
