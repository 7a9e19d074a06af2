/**
 * Credentials that say nothing to those who hold them: refresh tokens, codes, session keys. They are looked up by their
 * SHA-256, and looking is no use of them.
 */

import { sha256Base64url } from "@signet/protocol/hash";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { findCode } from "../../../core/codes/codes.store.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import { findByDeviceCode } from "../../../core/device-authorizations/device-authorizations.store.ts";
import { type SessionKeyRefusal, sessionKeyRefusal } from "../../../core/session-keys/session-key.ts";
import { findSessionKey } from "../../../core/session-keys/session-keys.store.ts";
import {
  familyIdFromRefreshToken,
  type RefreshTokenKeys,
  refreshTokenStatus,
} from "../../../core/tokens/token-family.ts";
import { findTokenFamily } from "../../../core/tokens/tokens.store.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { bad, type Finding, good, type Inspection, warn } from "./inspection.ts";

export type SecretDeps = CoreDeps & RefreshTokenKeys;

/** @returns undefined without one of our prefixes */
export async function inspectSecret(
  deps: SecretDeps,
  orgId: string,
  text: string,
): Promise<Inspection | undefined> {
  const [prefix] = /^sgn_[a-z]{2}_/.exec(text) ?? [];
  switch (prefix) {
    case undefined:
      return undefined;
    case "sgn_rt_":
      return inspectRefreshToken(deps, orgId, text);
    case "sgn_ac_":
      return inspectCode(deps, orgId, text);
    case "sgn_dc_":
      return inspectDeviceCode(deps, orgId, text);
    case "sgn_sk_":
      return inspectSessionKey(deps, orgId, text);
    case "sgn_cs_":
      return { kind: "clientSecret", findings: [warn("isSecret")] };
    default:
      return { kind: "otherSecret", findings: [warn("isSecret")] };
  }
}

async function inspectRefreshToken(deps: SecretDeps, orgId: string, token: string): Promise<Inspection> {
  const kind = "refresh";
  const familyId = familyIdFromRefreshToken(deps, orgId, token);
  if (familyId === undefined) return { kind, findings: [bad("notMadeHere")] };
  const family = await findTokenFamily(deps.database.query, orgId, familyId);
  if (!family) return { kind, findings: [good("madeHere"), bad("forgotten")] };
  const status = refreshTokenStatus(family, sha256Base64url(token), deps.clock(), false);
  const finding = {
    current: good("living"),
    grace: warn("rotated"),
    replayed: warn("rotated"),
    expired: bad("expiredByItself"),
    revoked: bad("revoked"),
  }[status];
  const whose = await whoseIsIt(deps, orgId, family);
  return {
    kind,
    findings: [good("madeHere"), finding, ...(status === "current" ? whose.findings : [])],
    ...whose.names,
    scopes: family.scopes,
    issuedAt: family.rotatedAt ?? family.createdAt,
    expiresAt: family.refreshExpiresAt ?? family.expiresAt,
  };
}

async function inspectCode(deps: SecretDeps, orgId: string, text: string): Promise<Inspection> {
  const kind = "code";
  const code = await findCode(deps.database.query, orgId, sha256Base64url(text));
  if (!code) return { kind, findings: [bad("notKnown")] };
  const status =
    code.usedAt !== null
      ? bad("codeUsed")
      : code.expiresAt <= deps.clock()
        ? bad("expiredByItself")
        : good("living");
  const { names } = await whoseIsIt(deps, orgId, code);
  const { scopes, createdAt: issuedAt, expiresAt } = code;
  return { kind, findings: [good("madeHere"), status], ...names, scopes, issuedAt, expiresAt };
}

async function inspectDeviceCode(deps: SecretDeps, orgId: string, text: string): Promise<Inspection> {
  const kind = "deviceCode";
  const code = await findByDeviceCode(deps.database.query, orgId, sha256Base64url(text));
  if (!code) return { kind, findings: [bad("notKnown")] };
  const { applicationId, approval, scopes, createdAt: issuedAt, expiresAt } = code;
  const status = deviceCodeStatus(code, deps.clock());
  const { names } = await whoseIsIt(deps, orgId, { applicationId, userId: approval?.userId });
  return { kind, findings: [good("madeHere"), status], ...names, scopes, issuedAt, expiresAt };
}

function deviceCodeStatus(
  code: { familyId: string | null; status: string; expiresAt: number; signing: unknown },
  now: number,
): Finding {
  if (code.familyId !== null && code.signing === null) return bad("codeUsed");
  if (code.status === "denied") return bad("denied");
  if (code.expiresAt <= now) return bad("expiredByItself");
  return code.status === "approved" ? good("allowed") : warn("pending");
}

async function inspectSessionKey(deps: SecretDeps, orgId: string, text: string): Promise<Inspection> {
  const kind = "sessionKey";
  const key = await findSessionKey(deps.database.query, sha256Base64url(text));
  // A session key names no organisation: another organisation's counts as unknown.
  if (key?.orgId !== orgId) return { kind, findings: [bad("notKnown")] };
  const refusal = sessionKeyRefusal(key, deps.clock());
  const whose = await whoseIsIt(deps, orgId, key);
  const status = refusal === undefined ? good("living") : bad(endedAs(refusal));
  const findings = [good("madeHere"), status, ...(refusal === undefined ? whose.findings : [])];
  return { kind, findings, ...whose.names, issuedAt: key.createdAt, expiresAt: key.expiresAt };
}

function endedAs(refusal: SessionKeyRefusal): Finding["id"] {
  if (refusal === "expired key" || refusal === "idle key") return "expiredByItself";
  return refusal === "browser session ended" ? "sessionEnded" : "revoked";
}

/** The application and the user, and why either makes a valid credential unacceptable. */
export async function whoseIsIt(
  { database }: Pick<SecretDeps, "database">,
  orgId: string,
  { applicationId, userId }: { applicationId?: string | undefined; userId?: string | undefined },
): Promise<{ findings: Finding[]; names: Pick<Inspection, "application" | "user"> }> {
  const application =
    applicationId === undefined ? undefined : await findApplication(database.query, orgId, applicationId);
  const user = userId === undefined ? undefined : await findUser(database.query, orgId, userId);
  const findings = [
    ...(applicationId !== undefined && !application ? [bad("applicationGone")] : []),
    ...(application && application.disabledAt !== null ? [bad("applicationDisabled")] : []),
    ...(userId !== undefined && !user ? [bad("userGone")] : []),
    ...(user && user.disabledAt !== null ? [bad("userDisabled")] : []),
  ];
  return {
    findings,
    names: {
      application: application && { id: application.id, name: application.name },
      user: user && { id: user.id, email: user.email },
    },
  };
}
