/** When each secret was used last. */
import type { Database } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import { lastUses } from "../last-uses.ts";
import type { Application, ClientSecret } from "./application.ts";
import { touchClientSecret } from "./applications.store.ts";

export interface SecretUse {
  note(application: Application, secret: ClientSecret): void;
  flush(): Promise<void>;
  /** Flushes and stops. */
  close(): Promise<void>;
}

export function secretUse(deps: {
  database: Database;
  clock: Clock;
  onError(error: unknown): void;
}): SecretUse {
  const { flush, close, note } = lastUses<{ orgId: string; applicationId: string; id: string; at: number }>({
    write: (use) => touchClientSecret(deps.database.query, use, use.at),
    onError: deps.onError,
  });
  return {
    note: ({ orgId, id: applicationId }, { id }) =>
      note(`${orgId}/${id}`, { orgId, applicationId, id, at: deps.clock() }),
    flush,
    close,
  };
}
