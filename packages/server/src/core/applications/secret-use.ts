/**
 * When each secret was used last, written some time later and in one go: a token request must not cost a durable write
 * for a date that only people read.
 */
import type { Database } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import type { Application, ClientSecret } from "./application.ts";
import { touchClientSecret } from "./store.ts";

export interface SecretUse {
  note(application: Application, secret: ClientSecret): void;
  flush(): Promise<void>;
  /** Flushes and stops. */
  close(): Promise<void>;
}

const EVERY_MS = 30_000;

export function secretUse(deps: {
  database: Database;
  clock: Clock;
  onError(error: unknown): void;
}): SecretUse {
  let noted = new Map<string, { orgId: string; applicationId: string; id: string; at: number }>();
  const flush = async () => {
    const uses = noted;
    noted = new Map();
    for (const use of uses.values()) await touchClientSecret(deps.database.query, use, use.at);
  };
  const timer = setInterval(() => flush().catch(deps.onError), EVERY_MS);
  timer.unref();
  return {
    note: ({ orgId, id: applicationId }, { id }) => {
      noted.set(`${orgId}/${id}`, { orgId, applicationId, id, at: deps.clock() });
    },
    flush,
    close: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}
