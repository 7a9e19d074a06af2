/** Token families and revoked access tokens. */

import { type ExpressionBuilder, sql } from "kysely";
import { hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import { lockedInOrder } from "../../db/row-locks.ts";
import type { Schema } from "../../db/schema.ts";
import type { TokenFamilyTable } from "../../db/tables/tokens.ts";
import { type GrantedDefinitions, readDefinitions } from "../scopes/scope-definitions.ts";
import { grantColumns, readGrant } from "./grant-columns.ts";
import type { Ancestors, TokenFamily } from "./token-family.ts";

type FamilyRow = Omit<TokenFamilyTable, "revoked_reason">;

const familyColumns = (
  "org_id id application_id user_id session_id consent_id scope resources nonce auth_time amr acr refresh_hash " +
  "refresh_expires_at previous_hash rotated_at generation created_at expires_at revoked_at requested_claims device_id scope_definitions " +
  "dpop_jkt certificate_thumbprint authorization_details ancestors request_signed"
).split(" ") as ReadonlyArray<keyof FamilyRow>;

const insertFamily = prepared((db, value: Parameter<FamilyRow>) =>
  db.insertInto("token_family").values({
    ...(Object.fromEntries(familyColumns.map((name) => [name, value(name)])) as unknown as FamilyRow),
    revoked_reason: null,
  }),
);

type NewTokenFamily = Omit<TokenFamily, "ancestors" | "requestSigned"> &
  Partial<Pick<TokenFamily, "ancestors" | "requestSigned">>;

export async function insertTokenFamily(
  db: Db,
  { ancestors = null, requestSigned = null, ...family }: NewTokenFamily,
): Promise<void> {
  const {
    scopes,
    definitions,
    resources,
    authorizationDetails,
    authentication,
    requestedClaims,
    ...members
  } = family;
  const columns = { ...toRow(members), ...grantColumns(family), generation: 0 };
  await insertFamily(db, {
    ...columns,
    ancestors: ancestors && JSON.stringify(ancestors),
    request_signed: requestSigned === null ? null : Number(requestSigned),
  });
}

const selectFamily = prepared((db, value: Parameter<{ orgId: string; id: string }>) =>
  db
    .selectFrom("token_family")
    .select(familyColumns)
    .where("org_id", "=", value("orgId"))
    .where("id", "=", value("id")),
);

export async function findTokenFamily(db: Db, orgId: string, id: string): Promise<TokenFamily | undefined> {
  const [row] = await selectFamily(db, { orgId, id });
  return row && fromRow(row);
}

type Rotation = {
  orgId: string;
  id: string;
  presentedHash: string;
  successorHash: string;
  now: number;
  expiresAt: number;
};

const rotate = prepared((db, value: Parameter<Rotation>) =>
  db
    .updateTable("token_family")
    .set((eb) => ({
      refresh_hash: value("successorHash"),
      refresh_expires_at: value("expiresAt"),
      previous_hash: value("presentedHash"),
      rotated_at: value("now"),
      generation: eb("generation", "+", 1),
    }))
    .where((eb) =>
      allOf(eb, { org_id: value("orgId"), id: value("id"), refresh_hash: value("presentedHash") }),
    )
    .where("revoked_at", "is", null)
    .where("expires_at", ">", value("now"))
    .where("refresh_expires_at", ">", value("now"))
    .returning("id"),
);

/**
 * The compare-and-swap of a rotation: the successor replaces the presented token, once.
 * @returns false when the presented token was no longer the current one
 */
export async function rotateRefreshToken(db: Db, rotation: Rotation): Promise<boolean> {
  return (await rotate(db, rotation)).length > 0;
}

export type RevokedFamilies = { readonly orgId: string; readonly now: number; readonly reason: string } & (
  | { readonly id: string }
  | {
      readonly applicationId: string;
      readonly userId?: string;
      /** Those alone that are bound to neither key nor certificate. */
      readonly isUnbound?: true;
    }
  | { readonly userId: string }
  | { readonly consentId: string }
  /** Those bound to the device, and those of the sessions that began on it. */
  | { readonly deviceId: string }
  /** Those granted with `offline_access` outlive the session. */
  | { readonly sessionId: string }
  | { readonly sessionIds: readonly string[] }
);

/** Matches the whole word, not a custom scope whose name contains it. */
const withoutOfflineAccess = sql<boolean>`' ' || scope || ' ' not like '% offline!_access %' escape '!'`;

/** Ended ones too: their refresh tokens with `offline_access` live on. */
const sessionsOfDevice = (
  eb: ExpressionBuilder<Schema, "token_family">,
  { orgId, deviceId }: { readonly orgId: string; readonly deviceId: string },
) =>
  eb
    .selectFrom("browser_session")
    .select("browser_session.id")
    .where("browser_session.org_id", "=", orgId)
    .where("browser_session.device_id", "=", deviceId);

const isFamilyOf = (which: RevokedFamilies) => (eb: ExpressionBuilder<Schema, "token_family">) => {
  const active = [eb("org_id", "=", which.orgId), eb("revoked_at", "is", null)];
  if ("id" in which) return eb.and([...active, eb("id", "=", which.id)]);
  if ("applicationId" in which) {
    const ofUser = which.userId === undefined ? [] : [eb("user_id", "=", which.userId)];
    const unbound = which.isUnbound
      ? [eb("dpop_jkt", "is", null), eb("certificate_thumbprint", "is", null)]
      : [];
    return eb.and([...active, eb("application_id", "=", which.applicationId), ...ofUser, ...unbound]);
  }
  if ("userId" in which) return eb.and([...active, eb("user_id", "=", which.userId)]);
  if ("consentId" in which) return eb.and([...active, eb("consent_id", "=", which.consentId)]);
  if ("deviceId" in which)
    return eb.and([
      ...active,
      eb.or([eb("device_id", "=", which.deviceId), eb("session_id", "in", sessionsOfDevice(eb, which))]),
    ]);
  const sessionIds = "sessionIds" in which ? which.sessionIds : [which.sessionId];
  return eb.and([...active, eb("session_id", "in", sessionIds), withoutOfflineAccess]);
};

/** @returns how many were active */
export async function revokeTokenFamilies(db: Db, which: RevokedFamilies): Promise<number> {
  // A user's and an application's revocation have rows in common, and find them in different orders.
  const all = db.selectFrom("token_family").select("id").where(isFamilyOf(which));
  const revoked = await db
    .updateTable("token_family")
    .set({ revoked_at: which.now, revoked_reason: which.reason })
    .where(isFamilyOf(which))
    .$if(!("id" in which), (query) => query.where("id", "in", lockedInOrder(db, all, "id")))
    .executeTakeFirst();
  return Number(revoked.numUpdatedRows);
}

/** Stores the `jti` until the token expires. @returns false when it was revoked before */
export const revokeAccessToken = (
  db: Db,
  { orgId, jti, expiresAt }: { orgId: string; jti: string; expiresAt: number },
): Promise<boolean> =>
  hasRow(
    db
      .insertInto("revoked_access_token")
      .values({ org_id: orgId, jti, expires_at: expiresAt })
      .onConflict((conflict) => conflict.columns(["org_id", "jti"]).doNothing())
      .returning("jti"),
  );

const selectRevoked = prepared((db, value: Parameter<{ orgId: string; jti: string }>) =>
  db
    .selectFrom("revoked_access_token")
    .select("jti")
    .where("org_id", "=", value("orgId"))
    .where("jti", "=", value("jti")),
);

/** For tokens without a family: client credentials. */
export async function isAccessTokenRevoked(db: Db, orgId: string, jti: string): Promise<boolean> {
  return (await selectRevoked(db, { orgId, jti })).length > 0;
}

type FamilyToken = {
  readonly orgId: string;
  readonly familyId: string;
  readonly jti: string;
  readonly userId: string;
  readonly applicationId: string;
};

const selectActive = prepared((db, value: Parameter<FamilyToken>) =>
  db
    .selectFrom("token_family")
    .innerJoin("membership", (join) =>
      join
        .onRef("membership.org_id", "=", "token_family.org_id")
        .onRef("membership.user_id", "=", "token_family.user_id"),
    )
    .leftJoin("user_account", (join) =>
      join
        .onRef("user_account.org_id", "=", "membership.org_id")
        .onRef("user_account.id", "=", "membership.user_id")
        .onRef("user_account.org_id", "=", "membership.home_org_id"),
    )
    .leftJoin("revoked_access_token", (join) =>
      join
        .onRef("revoked_access_token.org_id", "=", "token_family.org_id")
        .on("revoked_access_token.jti", "=", value("jti")),
    )
    .select([
      "revoked_access_token.jti as revokedJti",
      "token_family.scope",
      "token_family.scope_definitions",
      "token_family.created_at",
      "token_family.ancestors",
    ])
    .select(["membership.home_org_id", "user_account.id as ownAccount"])
    .where((eb) => allOf(eb, { "token_family.org_id": value("orgId"), "token_family.id": value("familyId") }))
    // An agent chooses the claims it signs: the family must be of this user and application.
    .where("token_family.user_id", "=", value("userId"))
    .where("token_family.application_id", "=", value("applicationId"))
    .where("token_family.revoked_at", "is", null)
    .where("membership.disabled_at", "is", null)
    .where("user_account.disabled_at", "is", null),
);

const selectEnabled = prepared((db, value: Parameter<{ homeOrgId: string; userId: string }>) =>
  db
    .selectFrom("user_account")
    .select("id")
    .where((eb) => allOf(eb, { org_id: value("homeOrgId"), id: value("userId") }))
    .where("disabled_at", "is", null),
);

const readAncestors = (text: string | null): Ancestors | null =>
  text === null ? null : (JSON.parse(text) as Ancestors);

interface ActiveGrant extends GrantedDefinitions {
  readonly scopes: readonly string[];
  /** None of its families and tokens is revoked; its clients and devices are not looked at. */
  readonly ancestors: Ancestors | null;
}

/**
 * What was granted to the token's family.
 * @returns undefined when the token or its family is revoked, or the user is not an enabled member of the organisation
 */
export async function findActiveGrant(db: Db, key: FamilyToken): Promise<ActiveGrant | undefined> {
  const [row] = await selectActive(db, key);
  if (row === undefined || row.revokedJti !== null) return undefined;
  const { home_org_id: homeOrgId, ownAccount } = row;
  // A guest's account is its home's; one of the organisation itself has been looked at.
  if (homeOrgId === key.orgId ? ownAccount === null : !(await isEnabled(db, homeOrgId, key.userId)))
    return undefined;
  const { scope, scope_definitions, created_at: createdAt } = row;
  const ancestors = readAncestors(row.ancestors);
  if (ancestors && !(await areActive(db, key.orgId, ancestors))) return undefined;
  return { scopes: scope.split(" "), definitions: readDefinitions(scope_definitions), createdAt, ancestors };
}

/** Whether anything that a user has granted to an application still holds; what it was given in exchange does not count. */
export const hasActiveFamily = (
  db: Db,
  { orgId, userId, applicationId }: Pick<FamilyToken, "orgId" | "userId" | "applicationId">,
): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("token_family")
      .select("id")
      .where((eb) => allOf(eb, { org_id: orgId, user_id: userId, application_id: applicationId }))
      .where("revoked_at", "is", null)
      .where("ancestors", "is", null)
      .limit(1),
  );

/** A token that was exchanged ends with those that it came from (modern-oauth.md §5). */
async function areActive(db: Db, orgId: string, { families, tokens }: Ancestors): Promise<boolean> {
  const active = await db
    .selectFrom("token_family")
    .select("id")
    .where("org_id", "=", orgId)
    .where("id", "in", families)
    .where("revoked_at", "is", null)
    .execute();
  if (active.length !== new Set(families).size) return false;
  const revoked = db
    .selectFrom("revoked_access_token")
    .select("jti")
    .where("org_id", "=", orgId)
    .where("jti", "in", tokens)
    .limit(1);
  return !(await hasRow(revoked));
}

const isEnabled = async (db: Db, homeOrgId: string, userId: string): Promise<boolean> =>
  (await selectEnabled(db, { homeOrgId, userId })).length > 0;

function fromRow(family: FamilyRow): TokenFamily {
  const { scope, scope_definitions, resources, authorization_details, ...others } = family;
  const { auth_time, amr, acr, requested_claims, generation, ancestors, request_signed, ...row } = others;
  return {
    ...toRecord(row),
    ...readGrant(family),
    ancestors: readAncestors(ancestors),
    requestSigned: request_signed === null ? null : request_signed === 1,
  };
}

const MAX_APPLICATIONS = 100;

/** The applications that hold unrevoked tokens of a user, the newest first. */
export async function listUsedApplications(
  db: Db,
  { orgId, userId }: { orgId: string; userId: string },
): Promise<Array<{ applicationId: string; applicationName: string; lastUsedAt: number }>> {
  return db
    .selectFrom("token_family")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "token_family.org_id")
        .onRef("application.id", "=", "token_family.application_id"),
    )
    .select(["application.id as applicationId", "application.name as applicationName"])
    .select((eb) => eb.fn.max("token_family.created_at").as("lastUsedAt"))
    .where((eb) => allOf(eb, { "token_family.org_id": orgId, "token_family.user_id": userId }))
    .where("token_family.revoked_at", "is", null)
    .groupBy(["application.id", "application.name"])
    .orderBy("lastUsedAt", "desc")
    .limit(MAX_APPLICATIONS)
    .execute();
}
