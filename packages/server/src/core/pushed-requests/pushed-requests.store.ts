/** Pushed authorization requests. */
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { PushedRequestTable } from "../../db/tables/tokens.ts";

export interface PushedRequest {
  readonly orgId: string;
  /** SHA-256 of the request_uri. */
  readonly uriHash: string;
  readonly applicationId: string;
  /** Names and values. */
  readonly parameters: ReadonlyArray<readonly [string, string]>;
  /** They come from a request object that the client has signed (RFC 9101). */
  readonly isSigned: boolean;
  /** Milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

type PushedRow = { [Column in keyof PushedRequestTable]: PushedRequestTable[Column] };

const insert = prepared((db, value: Parameter<PushedRow>) =>
  db.insertInto("pushed_request").values({
    org_id: value("org_id"),
    uri_hash: value("uri_hash"),
    application_id: value("application_id"),
    parameters: value("parameters"),
    is_signed: value("is_signed"),
    created_at: value("created_at"),
    expires_at: value("expires_at"),
  }),
);

export async function insertPushedRequest(db: Db, request: PushedRequest): Promise<void> {
  await insert(db, {
    org_id: request.orgId,
    uri_hash: request.uriHash,
    application_id: request.applicationId,
    parameters: JSON.stringify(request.parameters),
    is_signed: request.isSigned ? 1 : 0,
    created_at: request.createdAt,
    expires_at: request.expiresAt,
  });
}

export async function findPushedRequest(
  db: Db,
  { orgId, uriHash }: Pick<PushedRequest, "orgId" | "uriHash">,
): Promise<PushedRequest | undefined> {
  const row = await db
    .selectFrom("pushed_request")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("uri_hash", "=", uriHash)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    orgId,
    uriHash,
    applicationId: row.application_id,
    parameters: JSON.parse(row.parameters) as PushedRequest["parameters"],
    isSigned: row.is_signed === 1,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
