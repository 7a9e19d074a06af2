/**
 * The device code grant (RFC 8628 §3.4): the device polls until a person has answered. A code is used once; a second use
 * is refused and ends everything that the first one began, as with authorization codes.
 */

import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { newUuid } from "@signet/protocol/uuid";
import { deviceCodeGrantType } from "../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { Clock } from "../../../core/clock.ts";
import { holdGrounds } from "../../../core/codes/codes.store.ts";
import type {
  DeviceApproval,
  DeviceAuthorization,
} from "../../../core/device-authorizations/device-authorization.ts";
import {
  findByDeviceCode,
  notePoll,
  useDeviceCode,
} from "../../../core/device-authorizations/device-authorizations.store.ts";
import { noRequestedClaims } from "../../../core/scopes/requested-claims.ts";
import { noteSessionUse } from "../../../core/sessions/sessions.store.ts";
import type { Release } from "../../../core/tokens/issue-tokens.ts";
import type { PoolSigning } from "../../../core/tokens/pool-signing.ts";
import { firstRefreshToken, type RefreshTokenKeys } from "../../../core/tokens/refresh-token.ts";
import { insertTokenFamily, revokeTokenFamilies } from "../../../core/tokens/tokens.store.ts";
import { findUser } from "../../../core/users/users.store.ts";
import type { Database } from "../../../db/open.ts";
import type { Grant, GrantRequest, ReadGrant } from "./grant.ts";
import { newTokenFamily } from "./new-token-family.ts";
import { stillAllowedResources, stillAllowedScopes } from "./still-allowed.ts";

export interface DeviceCodeDeps extends RefreshTokenKeys {
  readonly database: Database;
  readonly clock: Clock;
  readonly poolSigning: PoolSigning;
}

/** The request of an approved device follows its yes within this time, or there is none. */
const REQUEST_FOLLOWS_MS = 10_000;

type Approved = DeviceAuthorization & { readonly approval: DeviceApproval };

export function deviceCodeGrant(deps: DeviceCodeDeps): Grant {
  return { grantType: deviceCodeGrantType, read: (request) => readDeviceCode(deps, request) };
}

const refused = (cause: string) =>
  new OAuthError("invalid_grant", "the device code cannot be used", { cause });

async function readDeviceCode(deps: DeviceCodeDeps, request: GrantRequest): Promise<ReadGrant> {
  const { organisation, application, form } = request;
  const presented = form.values.get("device_code");
  if (presented === undefined) throw new OAuthError("invalid_request", "device_code is missing");
  const db = deps.database.query;
  const device = await findByDeviceCode(db, organisation.id, sha256Base64url(presented));
  if (!device) throw refused("unknown");
  if (device.applicationId !== application.id) throw refused("issued to another client");
  const approved = await requireApproved(deps, request, device);
  const { approval } = approved;
  const scopes = stillAllowedScopes(device.scopes, application);
  const resources = stillAllowedResources(form, device.resources, application);
  const user = await findUser(db, organisation.id, approval.userId);
  if (!user || user.disabledAt !== null) throw refused("the user is gone or disabled");

  const familyId = device.signing?.familyId ?? newUuid();
  const begun = device.signing?.begun;
  const { authentication, sessionId, consentId } = approval;
  const requestedClaims = noRequestedClaims;
  return {
    subject: {
      issuer: request.issuer,
      application,
      scopes,
      resources,
      user: { user, authentication, nonce: null, sessionId, familyId, consentId, requestedClaims },
    },
    proofHash: device.deviceCodeHash,
    ...(begun ? { begun } : {}),
    commit: (release) => redeem(deps, request, approved, { familyId, release }),
  };
}

/** @throws OAuthError the answers of RFC 8628 §3.5 */
async function requireApproved(
  deps: DeviceCodeDeps,
  request: GrantRequest,
  device: DeviceAuthorization,
): Promise<Approved> {
  const { now } = request;
  const { approval } = device;
  if (device.familyId !== null) throw await replayed(deps, request, device);
  if (device.expiresAt <= now) throw new OAuthError("expired_token", "the device code has expired");
  if (device.status === "denied") throw new OAuthError("access_denied", "the user denied the device");
  if (approval && !(await isBeingSigned(deps, device, now))) return { ...device, approval };
  const { orgId, deviceCodeHash } = device;
  if (await notePoll(deps.database.query, { orgId, deviceCodeHash, now }))
    throw new OAuthError("authorization_pending", "the user has not answered yet");
  throw new OAuthError("slow_down", "the device polls too fast: wait 5 seconds more between polls");
}

/**
 * Whether the person who said yes still waits for an agent. What failed for want of agents is tried anew by the poll.
 * @throws OAuthError when the agent, or the person there, refused
 */
async function isBeingSigned(
  { poolSigning }: DeviceCodeDeps,
  { orgId, signing }: DeviceAuthorization,
  now: number,
): Promise<boolean> {
  if (!signing) return false;
  if (!signing.begun) return now < signing.approvedAt + REQUEST_FOLLOWS_MS;
  const outcome = await poolSigning.waitFor(orgId, signing.begun.requestId, 0);
  if (outcome instanceof OAuthError && outcome.code !== "temporarily_unavailable") throw outcome;
  return outcome === "waiting";
}

async function redeem(
  deps: DeviceCodeDeps,
  request: GrantRequest,
  device: Approved,
  { familyId, release }: { readonly familyId: string; readonly release: Release | undefined },
) {
  const { application, deviceId } = request;
  const { orgId, deviceCodeHash, approval } = device;
  const refreshToken = firstRefreshToken(deps, orgId, familyId);
  const now = deps.clock();
  const used = await deps.database.transaction(async (tx) => {
    if (!(await useDeviceCode(tx, { orgId, deviceCodeHash, familyId, now }))) return false;
    const { sessionId, consentId } = approval;
    if (!(await holdGrounds(tx, { orgId, sessionId, consentId })))
      throw refused("the session or the consent has ended");
    await noteSessionUse(tx, { orgId, sessionId, applicationId: application.id, now });
    // RFC 8628 has neither nonce nor claims parameter.
    const ground = { ...device, ...approval, nonce: null, requestedClaims: noRequestedClaims, deviceId };
    await insertTokenFamily(tx, newTokenFamily(application, ground, { familyId, refreshToken, now }));
    await release?.(tx);
    return true;
  });
  if (!used) throw await replayed(deps, request, device);
  return { refresh_token: refreshToken };
}

/** The first use began a family: it ends, with its access tokens. */
async function replayed(
  deps: DeviceCodeDeps,
  { application, address }: GrantRequest,
  { orgId, deviceCodeHash }: DeviceAuthorization,
): Promise<OAuthError> {
  const now = deps.clock();
  await deps.database.transaction(async (tx) => {
    const first = await findByDeviceCode(tx, orgId, deviceCodeHash);
    if (!first?.familyId) return;
    const id = first.familyId;
    if ((await revokeTokenFamilies(tx, { orgId, id, now, reason: "code_replayed" })) === 0) return;
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor: `client:${application.id}`,
      action: "device-code.replayed",
      ...(first.approval ? { target: first.approval.userId } : {}),
      address,
    });
  });
  return refused("used before");
}
