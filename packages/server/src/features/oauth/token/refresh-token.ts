/**
 * The refresh token grant (RFC 6749 §6) with rotation (RFC 9700 §4.14.2). One compare-and-swap decides who rotates; a
 * replay of an older token ends the family; the token rotated last gives the same successor again for a few seconds, so
 * that a lost answer or two racing tabs log nobody out.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { isSubset, parseScope } from "@signet/protocol/oauth/scope";
import type { Application } from "../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Release } from "../../../core/tokens/issue-tokens.ts";
import {
  familyOfRefreshToken,
  type RefreshTokenKeys,
  successorOf,
} from "../../../core/tokens/refresh-token.ts";
import { refreshExpiry, refreshStanding, type TokenFamily } from "../../../core/tokens/token-family.ts";
import {
  findTokenFamily,
  revokeTokenFamilies,
  rotateRefreshToken,
} from "../../../core/tokens/tokens.store.ts";
import { findUser } from "../../../core/users/users.store.ts";
import type { Database } from "../../../db/open.ts";
import type { Grant, GrantRequest, ReadGrant } from "./grant.ts";
import { stillAllowedResources, stillAllowedScopes } from "./still-allowed.ts";

export interface RefreshTokenDeps extends RefreshTokenKeys {
  readonly database: Database;
  readonly clock: Clock;
}

interface Presented {
  readonly token: string;
  readonly hash: string;
  readonly familyId: string;
}

export function refreshTokenGrant(deps: RefreshTokenDeps): Grant {
  return { grantType: "refresh_token", read: (request) => readRefreshToken(deps, request) };
}

const refused = (cause: string) =>
  new OAuthError("invalid_grant", "the refresh token cannot be used", { cause });

async function readRefreshToken(deps: RefreshTokenDeps, request: GrantRequest): Promise<ReadGrant> {
  const { organisation, application, form, now } = request;
  const token = form.values.get("refresh_token");
  if (token === undefined) throw new OAuthError("invalid_request", "refresh_token is missing");
  const familyId = familyOfRefreshToken(deps, organisation.id, token);
  const family = familyId && (await findTokenFamily(deps.database.query, organisation.id, familyId));
  if (!familyId || !family) throw refused("unknown");
  // RFC 6749 §10.4: bound to the client. Another client learns nothing and ends nothing.
  if (family.applicationId !== application.id) throw refused("issued to another client");
  // RFC 8705 §7.1, by the device and not by one of its certificates, so that a renewal survives. Before anything is looked
  // at that could end the family: another device ends nothing either.
  if (family.deviceId !== request.deviceId) throw refused("begun with another device, or with none");
  const presented = { token, familyId, hash: sha256Base64url(token) };
  await requireGood(deps, request, family, presented, now);
  const user = await findUser(deps.database.query, organisation.id, family.userId);
  if (!user || user.disabledAt !== null) throw refused("the user is gone or disabled");

  const { authentication, nonce, sessionId, consentId, requestedClaims } = family;
  return {
    subject: {
      issuer: request.issuer,
      application,
      scopes: narrowedScopes(family, application, form.values.get("scope")),
      resources: stillAllowedResources(form, family.resources, application),
      user: { user, authentication, nonce, sessionId, familyId, consentId, requestedClaims },
    },
    proofHash: presented.hash,
    commit: (release) => rotate(deps, request, family, { ...presented, release }),
  };
}

async function rotate(
  deps: RefreshTokenDeps,
  request: GrantRequest,
  family: TokenFamily,
  presented: Presented & { readonly release: Release | undefined },
) {
  const { organisation, application } = request;
  const { release } = presented;
  const { query } = deps.database;
  const successor = successorOf(deps, organisation.id, presented.familyId, presented.token);
  const now = deps.clock();
  const rotation = {
    orgId: organisation.id,
    id: presented.familyId,
    presentedHash: presented.hash,
    successorHash: sha256Base64url(successor),
    now,
    expiresAt: refreshExpiry(family, application.settings.refreshTokenLifetimeSeconds, now),
  };
  // Rotation and release stand or fall together: an answer that cannot be given burns no refresh token.
  const rotated = await (release
    ? deps.database.transaction(async (tx) => {
        const isFirst = await rotateRefreshToken(tx, rotation);
        if (isFirst) await release(tx);
        return isFirst;
      })
    : rotateRefreshToken(query, rotation));
  if (!rotated) {
    // Somebody was faster with the same token, or this is a repeat: what the family says now decides.
    const current = await findTokenFamily(query, organisation.id, presented.familyId);
    if (!current) throw refused("unknown");
    await requireGood(deps, request, current, presented, now);
    await release?.();
  }
  return { refresh_token: successor };
}

async function requireGood(
  deps: RefreshTokenDeps,
  request: GrantRequest,
  family: TokenFamily,
  presented: Presented,
  now: number,
): Promise<void> {
  const graceMs = request.application.settings.refreshTokenGraceSeconds * 1000;
  const standing = refreshStanding(family, presented.hash, now, graceMs);
  if (standing === "living" || standing === "again") return;
  if (standing === "replayed") await endFamily(deps, request, family);
  throw refused(standing);
}

async function endFamily(deps: RefreshTokenDeps, request: GrantRequest, family: TokenFamily): Promise<void> {
  const now = deps.clock();
  const { orgId, id } = family;
  await deps.database.transaction(async (tx) => {
    if ((await revokeTokenFamilies(tx, { orgId, id, now, reason: "refresh_token_replayed" })) === 0) return;
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor: `client:${request.application.id}`,
      action: "refresh-token.replayed",
      target: family.userId,
      address: request.address,
    });
  });
}

/**
 * RFC 6749 §6: the same or less, never more; the family keeps what it was granted. What was taken from the application
 * since then it does not get any more.
 */
function narrowedScopes(
  family: TokenFamily,
  application: Application,
  text: string | undefined,
): readonly string[] {
  const asked = text === undefined ? family.scopes : parseScope(text);
  if (!asked || !isSubset(asked, family.scopes)) {
    throw new OAuthError("invalid_scope", "more was asked for than the refresh token was granted");
  }
  return stillAllowedScopes(asked, application);
}
