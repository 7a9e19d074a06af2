/** Ten places for each application: an entry takes the place of the oldest. */
import type { OAuthErrorCode } from "@signet/protocol/oauth/oauth-error";
import { sql } from "kysely";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { RefusedEndpoint, RefusedRequest } from "./refused-request.ts";
import {
  REFUSED_REQUESTS_KEPT,
  type RefusedBatch,
  type RefusedRequests,
  refusedRequests,
} from "./refused-requests.ts";

export const storedRefusedRequests = ({
  database,
  ...deps
}: Pick<CoreDeps, "database" | "clock"> & { onError(error: unknown): void }): RefusedRequests =>
  refusedRequests({ ...deps, write: (batch) => insertRefusedRequests(database.query, batch) });

/** Of two nodes that take one place at the same moment, the later one has it. Nothing is kept of a deleted application. */
export async function insertRefusedRequests(
  db: Db,
  { orgId, applicationId, requests }: RefusedBatch,
): Promise<void> {
  for (const { at, endpoint, error, reason, description } of requests)
    await sql`insert into refused_request
        (org_id, application_id, slot, sequence, at, endpoint, error, reason, description)
      select a.org_id, a.id, next.sequence % cast(${REFUSED_REQUESTS_KEPT} as bigint), next.sequence,
        cast(${at} as bigint), ${endpoint}, ${error}, ${reason}, ${description}
      from application as a cross join (
        select coalesce(max(sequence), -1) + 1 as sequence from refused_request
        where org_id = ${orgId} and application_id = ${applicationId}) as next
      where a.org_id = ${orgId} and a.id = ${applicationId}
      on conflict (org_id, application_id, slot) do update set
        sequence = excluded.sequence, at = excluded.at, endpoint = excluded.endpoint,
        error = excluded.error, reason = excluded.reason, description = excluded.description
      where excluded.sequence >= refused_request.sequence`.execute(db);
}

/** Newest first. */
export async function listRefusedRequests(
  db: Db,
  { orgId, applicationId }: { readonly orgId: string; readonly applicationId: string },
): Promise<RefusedRequest[]> {
  const rows = await db
    .selectFrom("refused_request")
    .select(["at", "endpoint", "error", "reason", "description"])
    .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId }))
    .orderBy("sequence", "desc")
    .execute();
  return rows.map((row) => ({
    ...row,
    endpoint: row.endpoint as RefusedEndpoint,
    error: row.error as OAuthErrorCode,
    reason: row.reason as RefusedRequest["reason"],
  }));
}
