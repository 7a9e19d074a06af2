/** Authorization codes: single use, and the session and consent behind them. */

import { columnsOf } from "../../db/columns.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { AuthorizationCodeTable } from "../../db/tables/tokens.ts";
import { lockConsent } from "../consents/consents.store.ts";
import { grantColumns, readGrant } from "../tokens/grant-columns.ts";
import type { SigningRequestRef } from "../tokens/signer.ts";
import type { AuthorizationCode } from "./authorization-code.ts";

export async function insertCode(db: Db, code: AuthorizationCode): Promise<void> {
  const { scopes, definitions, resources, authorizationDetails, authentication, requestedClaims, ...rest } =
    code;
  const { signing, ...members } = rest;
  await db
    .insertInto("authorization_code")
    .values({ ...toRow(members), ...grantColumns(code), signing: signing && JSON.stringify(signing) })
    .execute();
}

const codeColumns = columnsOf<AuthorizationCodeTable>()(
  ...(["org_id", "code_hash", "application_id", "user_id", "session_id", "consent_id"] as const),
  ...(["redirect_uri", "scope", "scope_definitions", "resources", "code_challenge", "nonce"] as const),
  ...(["auth_time", "amr", "acr", "created_at", "expires_at", "used_at"] as const),
  ...(["family_id", "requested_claims", "signing", "dpop_jkt", "authorization_details"] as const),
);

const selectCode = prepared((db, value: Parameter<{ orgId: string; codeHash: string }>) =>
  db
    .selectFrom("authorization_code")
    .select(codeColumns)
    .where("org_id", "=", value("orgId"))
    .where("code_hash", "=", value("codeHash")),
);

/** Finds used and expired codes too, to recognise a replay. */
export async function findCode(
  db: Db,
  orgId: string,
  codeHash: string,
): Promise<AuthorizationCode | undefined> {
  const [found] = await selectCode(db, { orgId, codeHash });
  if (!found) return undefined;
  const { scope, scope_definitions, resources, authorization_details, ...rest } = found;
  const { auth_time, amr, acr, requested_claims, signing, ...row } = rest;
  return {
    ...toRecord(row),
    ...readGrant(found),
    signing: signing === null ? null : (JSON.parse(signing) as SigningRequestRef),
  };
}

type CodeUse = { orgId: string; codeHash: string; familyId: string; now: number };

const use = prepared((db, value: Parameter<CodeUse>) =>
  db
    .updateTable("authorization_code")
    .set({ used_at: value("now"), family_id: value("familyId") })
    .where((eb) => allOf(eb, { org_id: value("orgId"), code_hash: value("codeHash") }))
    .where("used_at", "is", null)
    .where("expires_at", ">", value("now"))
    .returning("code_hash"),
);

/** The single use. @returns false when the code was used or has expired */
export async function markCodeUsed(db: Db, code: CodeUse): Promise<boolean> {
  return (await use(db, code)).length > 0;
}

const lockSession = prepared((db, value: Parameter<{ orgId: string; sessionId: string }>) =>
  db
    .updateTable("browser_session")
    .set((eb) => ({ ended_at: eb.ref("ended_at") }))
    .where((eb) => allOf(eb, { org_id: value("orgId"), id: value("sessionId") }))
    .where("ended_at", "is", null)
    .returning("id"),
);

/**
 * Locks the session and the consent behind a code. The update changes nothing: a concurrent sign-out is either seen here,
 * or waits and then finds the token family to revoke.
 * @returns false when one of them has ended
 */
export async function lockSessionAndConsent(
  db: Db,
  { orgId, sessionId, consentId }: Pick<AuthorizationCode, "orgId" | "sessionId" | "consentId">,
): Promise<boolean> {
  if ((await lockSession(db, { orgId, sessionId })).length === 0) return false;
  return consentId === null || (await lockConsent(db, { orgId, consentId }));
}

/** Expires the application's unredeemed codes. */
export async function expireCodes(
  db: Db,
  { orgId, applicationId, now }: { orgId: string; applicationId: string; now: number },
): Promise<void> {
  await db
    .updateTable("authorization_code")
    .set({ expires_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId }))
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .execute();
}
