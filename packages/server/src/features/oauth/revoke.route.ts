/**
 * POST revoke (RFC 7009). A refresh token takes its whole family with it, access tokens included; an access token ends
 * alone. What is unknown, expired or revoked already is answered like success.
 */
import { requireSingle } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../core/applications/application.ts";
import { recordAuditEvent } from "../../core/audit/audit.store.ts";
import type { Clock } from "../../core/clock.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { AccessTokens } from "../../core/tokens/access-tokens.ts";
import { familyOfRefreshToken, type RefreshTokenKeys } from "../../core/tokens/token-family.ts";
import { findTokenFamily, revokeAccessToken, revokeTokenFamilies } from "../../core/tokens/tokens.store.ts";
import type { Database } from "../../db/open.ts";
import { formOf } from "../../http/form-body.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import { inOrganisation } from "../../http/organisation-lookup.ts";
import {
  authenticateClient,
  type ClientAuthenticationDeps,
  identifyClient,
} from "./client-authentication/client-authentication.ts";

export interface RevokeDeps extends ClientAuthenticationDeps, RefreshTokenKeys {
  readonly database: Database;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly accessTokens: AccessTokens;
}

export function revokeRoute(app: FastifyInstance, deps: RevokeDeps): void {
  app.post(
    "/oauth/:org/revoke",
    inOrganisation<Organisation>(deps.organisations.find, async ({ organisation, request, reply }) => {
      const form = formOf(request);
      requireSingle(form);
      const client = await identifyClient(deps, organisation, request, form);
      const { application } = await authenticateClient(deps, organisation, request, client);
      const by = { application, address: addressOf(request) };
      const token = form.values.get("token");
      if (token === undefined) throw new OAuthError("invalid_request", "token is missing");
      // The hint may be wrong and is never needed: a token's form says what it is (RFC 7009 §2.1).
      const familyId = familyOfRefreshToken(deps, organisation.id, token);
      if (familyId !== undefined) await revokeFamily(deps, by, familyId);
      else await revokeOneAccessToken(deps, organisation, by, token);
      return reply.code(200).header("cache-control", "no-store").send();
    }),
  );
}

const foreign = () => new OAuthError("invalid_grant", "the token was issued to another client");

/** Who revokes, from where. */
interface By {
  readonly application: Application;
  readonly address: string;
}

async function revokeFamily(deps: RevokeDeps, { application, address }: By, id: string): Promise<void> {
  const family = await findTokenFamily(deps.database.query, application.orgId, id);
  if (!family) return;
  if (family.applicationId !== application.id) throw foreign();
  const now = deps.clock();
  const { orgId } = application;
  await deps.database.transaction(async (tx) => {
    if ((await revokeTokenFamilies(tx, { orgId, id, now, reason: "revoked_by_client" })) === 0) return;
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor: `client:${application.id}`,
      action: "refresh-token.revoked",
      target: family.userId,
      address,
    });
  });
}

async function revokeOneAccessToken(
  deps: RevokeDeps,
  organisation: Organisation,
  { application, address }: By,
  token: string,
): Promise<void> {
  const claims = await deps.accessTokens.read(organisation, token);
  if (!claims) return;
  if (claims.client_id !== application.id) throw foreign();
  const { id: orgId } = organisation;
  const { sub, jti, exp } = claims;
  await deps.database.transaction(async (tx) => {
    if (!(await revokeAccessToken(tx, { orgId, jti, expiresAt: exp * 1000 }))) return;
    await recordAuditEvent(tx, {
      orgId,
      at: deps.clock(),
      actor: `client:${application.id}`,
      action: "access-token.revoked",
      target: sub,
      address,
      details: { jti },
    });
  });
}
