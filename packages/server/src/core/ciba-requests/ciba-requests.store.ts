/** CIBA requests: the decision, the polls and the single use are conditional updates. */
import { formatScope } from "@signet/protocol/oauth/scope";
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { CibaRequestTable } from "../../db/tables/tokens.ts";
import type { AuthorizationDetail } from "../authorization-details/detail-type.ts";
import {
  type DeviceApproval,
  type DeviceSigning,
  POLL_INTERVAL_SECONDS,
} from "../device-authorizations/device-authorization.ts";
import { recordTimedPoll } from "../device-authorizations/device-authorizations.store.ts";
import { authenticationColumns, readRequest, requestColumns } from "../tokens/grant-columns.ts";
import type { CibaRequest } from "./ciba-request.ts";

export type NewCibaRequest = Omit<CibaRequest, "status" | "approval" | "familyId" | "signing">;

export async function insertCibaRequest(db: Db, request: NewCibaRequest): Promise<void> {
  const { orgId, requestHash, id, applicationId, userId, bindingMessage, acrValues, ...rest } = request;
  const { authorizationDetails: details, createdAt, expiresAt } = rest;
  await db
    .insertInto("ciba_request")
    .values({
      ...toRow({ orgId, requestHash, id, applicationId, userId, bindingMessage, acrValues }),
      ...requestColumns(rest),
      ...toRow({ createdAt, expiresAt }),
      authorization_details: details.length > 0 ? JSON.stringify(details) : null,
      status: "pending",
      interval_seconds: POLL_INTERVAL_SECONDS,
    })
    .execute();
}

const selectByHash = prepared((db, value: Parameter<{ orgId: string; hash: string }>) =>
  db
    .selectFrom("ciba_request")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("request_hash", "=", value("hash")),
);

/** Finds expired and used ones too, to recognise a replay. */
export async function findByAuthReqId(db: Db, orgId: string, hash: string): Promise<CibaRequest | undefined> {
  const [row] = await selectByHash(db, { orgId, hash });
  return row && fromRow(row);
}

interface OwnRequests {
  readonly orgId: string;
  readonly userId: string;
  readonly now: number;
}

/** One that the user is asked, decided or not, until it expires. */
export async function findOwnRequest(
  db: Db,
  { orgId, userId, id, now }: OwnRequests & { readonly id: string },
): Promise<CibaRequest | undefined> {
  const row = await db
    .selectFrom("ciba_request")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId, id }))
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** How many pages show: more cannot be asked within the lifetime of a request (rate-limits.ts). */
const MAX_SHOWN = 50;

export interface WaitingRequest extends Pick<CibaRequest, "id" | "createdAt"> {
  readonly applicationName: string;
}

/** Those that the user has not decided yet, newest first. */
export async function listWaitingRequests(
  db: Db,
  { orgId, userId, now }: OwnRequests,
): Promise<WaitingRequest[]> {
  const rows = await db
    .selectFrom("ciba_request")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "ciba_request.org_id")
        .onRef("application.id", "=", "ciba_request.application_id"),
    )
    .select(["ciba_request.id", "ciba_request.created_at", "application.name"])
    .where("ciba_request.org_id", "=", orgId)
    .where("ciba_request.user_id", "=", userId)
    .where("ciba_request.status", "=", "pending")
    .where("ciba_request.expires_at", ">", now)
    .where("application.disabled_at", "is", null)
    .orderBy("ciba_request.created_at", "desc")
    .limit(MAX_SHOWN)
    .execute();
  return rows.map(({ id, created_at, name }) => ({ id, createdAt: created_at, applicationName: name }));
}

type Which = { readonly orgId: string; readonly requestHash: string; readonly now: number };

/**
 * @param scopes those that the user saw and could grant: whoever becomes an administrator later has granted no more
 * @param signing when an agent has to sign the tokens
 * @returns false when it was decided before or has expired
 */
export const approveRequest = (
  db: Db,
  which: Which,
  scopes: readonly string[],
  { authentication, userId, sessionId, consentId }: DeviceApproval,
  signing: DeviceSigning | null,
): Promise<boolean> =>
  decide(db, which, userId, {
    status: "approved",
    scope: formatScope(scopes),
    ...toRow({ sessionId, consentId }),
    ...authenticationColumns(authentication),
    signing: signing && JSON.stringify(signing),
  });

/** @returns false when it was decided before or has expired */
export const denyRequest = (db: Db, which: Which, userId: string): Promise<boolean> =>
  decide(db, which, userId, { status: "denied" });

const decide = (
  db: Db,
  { orgId, requestHash, now }: Which,
  userId: string,
  change: Partial<CibaRequestTable>,
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("ciba_request")
      .set(change)
      .where((eb) =>
        allOf(eb, { org_id: orgId, request_hash: requestHash, user_id: userId, status: "pending" }),
      )
      .where("expires_at", ">", now),
  );

export async function recordRequestSigning(
  db: Db,
  { orgId, requestHash, signing }: Pick<CibaRequest, "orgId" | "requestHash" | "signing">,
): Promise<void> {
  await db
    .updateTable("ciba_request")
    .set({ signing: signing && JSON.stringify(signing) })
    .where((eb) => allOf(eb, { org_id: orgId, request_hash: requestHash }))
    .execute();
}

/**
 * Records a poll. Of two concurrent polls the row lets one be in time.
 * @returns false when the poll was early: the interval grows by 5 s (CIBA Core §11)
 */
export const recordRequestPoll = (db: Db, { orgId, requestHash, now }: Which): Promise<boolean> =>
  recordTimedPoll(db, "ciba_request", { org_id: orgId, request_hash: requestHash }, now);

/** The single use. @returns false when it was used or has expired */
export const markRequestUsed = (
  db: Db,
  { orgId, requestHash, familyId, now }: Which & { readonly familyId: string },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("ciba_request")
      .set({ family_id: familyId })
      .where((eb) => allOf(eb, { org_id: orgId, request_hash: requestHash, status: "approved" }))
      .where("family_id", "is", null)
      .where("expires_at", ">", now),
  );

/** Expires the application's unredeemed requests. */
export async function expireCibaRequests(
  db: Db,
  { orgId, applicationId, now }: { orgId: string; applicationId: string; now: number },
): Promise<void> {
  await db
    .updateTable("ciba_request")
    .set({ expires_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId }))
    .where("family_id", "is", null)
    .where("expires_at", ">", now)
    .execute();
}

function fromRow(row: CibaRequestTable): CibaRequest {
  const { org_id, request_hash, id, application_id, user_id, binding_message, acr_values, signing } = row;
  const { created_at, expires_at, family_id, authorization_details: details } = row;
  return {
    ...toRecord({ org_id, request_hash, id, application_id, user_id, binding_message, acr_values }),
    ...toRecord({ created_at, expires_at, family_id }),
    ...readRequest(row),
    authorizationDetails: details === null ? [] : (JSON.parse(details) as AuthorizationDetail[]),
    status: row.status as CibaRequest["status"],
    approval: readApproval(row),
    signing: signing === null ? null : (JSON.parse(signing) as DeviceSigning),
  };
}

function readApproval(row: CibaRequestTable): DeviceApproval | null {
  const { user_id: userId, session_id: sessionId, auth_time: authTime, amr, acr } = row;
  if (sessionId === null || authTime === null || amr === null || acr === null) return null;
  const authentication = { authTime, amr: JSON.parse(amr) as string[], acr };
  return { userId, sessionId, consentId: row.consent_id, authentication };
}
