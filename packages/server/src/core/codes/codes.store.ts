import { formatScope } from "@signet/protocol/oauth/scope";
/** Authorization codes: single use, and the session and consent behind them. */
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { lockConsent } from "../consents/consents.store.ts";
import { readRequestedClaims, writeRequestedClaims } from "../scopes/requested-claims.ts";
import type { SigningRequestRef } from "../tokens/signer.ts";
import type { AuthorizationCode } from "./authorization-code.ts";

export async function insertCode(db: Db, code: AuthorizationCode): Promise<void> {
  await db
    .insertInto("authorization_code")
    .values({
      org_id: code.orgId,
      code_hash: code.codeHash,
      application_id: code.applicationId,
      user_id: code.userId,
      session_id: code.sessionId,
      consent_id: code.consentId,
      redirect_uri: code.redirectUri,
      scope: formatScope(code.scopes),
      resources: JSON.stringify(code.resources),
      code_challenge: code.codeChallenge,
      nonce: code.nonce,
      auth_time: code.authentication.authTime,
      amr: JSON.stringify(code.authentication.amr),
      acr: code.authentication.acr,
      created_at: code.createdAt,
      expires_at: code.expiresAt,
      used_at: code.usedAt,
      family_id: code.familyId,
      requested_claims: writeRequestedClaims(code.requestedClaims),
      signing: code.signing && JSON.stringify(code.signing),
    })
    .execute();
}

const selectCode = prepared((db, value: Parameter<{ orgId: string; codeHash: string }>) =>
  db
    .selectFrom("authorization_code")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("code_hash", "=", value("codeHash")),
);

/** Finds used and expired codes too, to recognise a replay. */
export async function findCode(
  db: Db,
  orgId: string,
  codeHash: string,
): Promise<AuthorizationCode | undefined> {
  const [row] = await selectCode(db, { orgId, codeHash });
  if (!row) return undefined;
  return {
    orgId: row.org_id,
    codeHash: row.code_hash,
    applicationId: row.application_id,
    userId: row.user_id,
    sessionId: row.session_id,
    consentId: row.consent_id,
    redirectUri: row.redirect_uri,
    scopes: row.scope.split(" "),
    resources: JSON.parse(row.resources) as string[],
    codeChallenge: row.code_challenge,
    nonce: row.nonce,
    authentication: { authTime: row.auth_time, amr: JSON.parse(row.amr) as string[], acr: row.acr },
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at,
    familyId: row.family_id,
    requestedClaims: readRequestedClaims(row.requested_claims),
    signing: row.signing === null ? null : (JSON.parse(row.signing) as SigningRequestRef),
  };
}

type CodeUse = { orgId: string; codeHash: string; familyId: string; now: number };

const use = prepared((db, value: Parameter<CodeUse>) =>
  db
    .updateTable("authorization_code")
    .set({ used_at: value("now"), family_id: value("familyId") })
    .where("org_id", "=", value("orgId"))
    .where("code_hash", "=", value("codeHash"))
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
    .where("org_id", "=", value("orgId"))
    .where("id", "=", value("sessionId"))
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
    .where("org_id", "=", orgId)
    .where("application_id", "=", applicationId)
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .execute();
}
