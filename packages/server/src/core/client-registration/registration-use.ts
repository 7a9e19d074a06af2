/** Records when clients that have registered themselves were last used: those that nobody uses are deleted (unused-clients.ts). */
import type { Database } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import type { Clock } from "../clock.ts";
import { lastUses } from "../last-uses.ts";
import { touchRegistration } from "./client-registrations.store.ts";

export interface RegistrationUse {
  /** Of any other client: nothing. */
  note(application: Pick<Application, "orgId" | "id" | "source">): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function registrationUse(deps: {
  database: Database;
  clock: Clock;
  onError(error: unknown): void;
}): RegistrationUse {
  const uses = lastUses<{ orgId: string; applicationId: string; at: number }>({
    write: (use) => touchRegistration(deps.database.query, use),
    onError: deps.onError,
  });
  return {
    note: ({ orgId, id, source }) => {
      if (source === "dynamic") uses.note(`${orgId}/${id}`, { orgId, applicationId: id, at: deps.clock() });
    },
    flush: uses.flush,
    close: uses.close,
  };
}
