/**
 * Notes refused requests: in memory first, then in batches to the database. Whoever knows a client ID can cause them, so
 * everything is bounded: the newest ten of an application, a few applications of an organisation, and what a batch writes.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Application } from "../applications/application.ts";
import { auditedRequest } from "../audit/audited-request.ts";
import type { Clock } from "../clock.ts";
import { type RefusedEndpoint, type RefusedRequest, toRefusedRequest } from "./refused-request.ts";

/** How many are kept of an application, in memory and in the database. */
export const REFUSED_REQUESTS_KEPT = 10;

const MAX_APPLICATIONS = 20;
const MAX_APPLICATIONS_OF_ORGANISATION = 4;
const FLUSH_INTERVAL_MS = 2_000;

export interface RefusedBatch {
  readonly orgId: string;
  readonly applicationId: string;
  /** Oldest first. */
  readonly requests: readonly RefusedRequest[];
}

type Of = Pick<Application, "orgId" | "id">;

export interface RefusedRequests {
  note(application: Of, endpoint: RefusedEndpoint, error: OAuthError): void;
  /** Notes the OAuth error that the work throws, and throws it on. */
  watch<T>(application: Of, endpoint: RefusedEndpoint, work: () => Promise<T>): Promise<T>;
  /** Before they are read. @throws what the write throws; the batch is kept */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function refusedRequests(deps: {
  readonly clock: Clock;
  write(batch: RefusedBatch): Promise<void>;
  onError(error: unknown): void;
}): RefusedRequests {
  const pending = new Map<string, RefusedBatch>();
  const hasRoom = (orgId: string) =>
    pending.size < MAX_APPLICATIONS &&
    [...pending.values()].filter((one) => one.orgId === orgId).length < MAX_APPLICATIONS_OF_ORGANISATION;
  const note = ({ orgId, id }: Of, endpoint: RefusedEndpoint, error: OAuthError) => {
    const request = toRefusedRequest(endpoint, error, {
      at: deps.clock(),
      requestId: auditedRequest()?.requestId,
    });
    const key = `${orgId}|${id}`;
    const noted = pending.get(key);
    if (!request || (!noted && !hasRoom(orgId))) return;
    const requests = [...(noted?.requests ?? []), request].slice(-REFUSED_REQUESTS_KEPT);
    pending.set(key, { orgId, applicationId: id, requests });
  };
  const flush = async () => {
    for (const [key, batch] of [...pending]) {
      await deps.write(batch);
      // What was noted meanwhile stays; it may repeat some, never lose any.
      if (pending.get(key) === batch) pending.delete(key);
    }
  };
  let flushing: Promise<void> | undefined;
  const timer = setInterval(() => {
    flushing ??= flush()
      .catch(deps.onError)
      .finally(() => {
        flushing = undefined;
      });
  }, FLUSH_INTERVAL_MS);
  timer.unref();
  return {
    note,
    watch: async (application, endpoint, work) => {
      try {
        return await work();
      } catch (error) {
        if (error instanceof OAuthError) note(application, endpoint, error);
        throw error;
      }
    },
    flush,
    close: async () => {
      clearInterval(timer);
      // After it the database is closed, and a write that is under way would fail.
      await flushing;
      await flush();
    },
  };
}
