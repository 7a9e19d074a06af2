/** Ten places for each application: an entry takes the place of the oldest. */
import type { OAuthErrorCode } from "@signet/protocol/oauth/oauth-error";
import { sql } from "kysely";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import type { RefusedRequestTable } from "../../db/tables/applications.ts";
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
  for (const { at, endpoint, error, reason, description, requestId = null } of requests)
    await sql`insert into refused_request
        (org_id, application_id, slot, sequence, at, endpoint, error, reason, description, request_id)
      select a.org_id, a.id, next.sequence % cast(${REFUSED_REQUESTS_KEPT} as bigint), next.sequence,
        cast(${at} as bigint), ${endpoint}, ${error}, ${reason}, ${description},
        cast(${requestId} as text)
      from application as a cross join (
        select coalesce(max(sequence), -1) + 1 as sequence from refused_request
        where org_id = ${orgId} and application_id = ${applicationId}) as next
      where a.org_id = ${orgId} and a.id = ${applicationId}
      on conflict (org_id, application_id, slot) do update set
        sequence = excluded.sequence, at = excluded.at, endpoint = excluded.endpoint,
        error = excluded.error, reason = excluded.reason, description = excluded.description,
        request_id = excluded.request_id
      where excluded.sequence >= refused_request.sequence`.execute(db);
}

/** Newest first. */
export async function listRefusedRequests(
  db: Db,
  { orgId, applicationId }: { readonly orgId: string; readonly applicationId: string },
): Promise<RefusedRequest[]> {
  const rows = await db
    .selectFrom("refused_request")
    .select([...members])
    .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId }))
    .orderBy("sequence", "desc")
    .execute();
  return rows.map(toRecord);
}

/** The refused request that an error page belongs to, while it is among the last ones of its application. */
export async function findRefusedRequest(
  db: Db,
  { orgId, requestId }: { readonly orgId: string; readonly requestId: string },
): Promise<(RefusedRequest & { readonly applicationId: string }) | undefined> {
  const row = await db
    .selectFrom("refused_request")
    .select([...members, "application_id"])
    .where((eb) => allOf(eb, { org_id: orgId, request_id: requestId }))
    .orderBy("at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && { ...toRecord(row), applicationId: row.application_id };
}

const members = ["at", "endpoint", "error", "reason", "description", "request_id"] as const;

const toRecord = (row: Pick<RefusedRequestTable, (typeof members)[number]>): RefusedRequest => ({
  at: row.at,
  endpoint: row.endpoint as RefusedEndpoint,
  error: row.error as OAuthErrorCode,
  reason: row.reason as RefusedRequest["reason"],
  description: row.description,
  ...(row.request_id === null ? {} : { requestId: row.request_id }),
});
