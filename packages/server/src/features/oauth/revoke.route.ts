/**
 * POST /oauth/{org}/revoke (RFC 7009). A refresh token revokes its family, access tokens included; an access token only
 * itself. Unknown, expired and revoked tokens are a success.
 */

import { requireSingle } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../core/applications/application.ts";
import { recordAuditEvent } from "../../core/audit/audit.store.ts";
import type { CoreDeps } from "../../core/core-deps.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { AccessTokens } from "../../core/tokens/access-tokens.ts";
import { revokeFamily } from "../../core/tokens/revoke-family.ts";
import { familyIdFromRefreshToken, type RefreshTokenKeys } from "../../core/tokens/token-family.ts";
import { findTokenFamily, revokeAccessToken } from "../../core/tokens/tokens.store.ts";
import { callOf } from "../../http/calls/call-route.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import { inOrganisation } from "../../http/organisation-lookup.ts";
import {
  authenticateClient,
  type ClientAuthenticationDeps,
  identifyClient,
} from "./client-authentication/client-authentication.ts";

export interface RevokeDeps extends CoreDeps, ClientAuthenticationDeps, RefreshTokenKeys {
  readonly organisations: OrganisationDirectory;
  readonly accessTokens: AccessTokens;
}

export function revokeRoute(app: FastifyInstance, deps: RevokeDeps): void {
  app.post(
    "/oauth/:org/revoke",
    inOrganisation<Organisation>(deps.organisations.find, async ({ organisation, request, reply }) => {
      const call = callOf(request);
      const { form } = call;
      requireSingle(form);
      const client = await identifyClient(deps, organisation, call);
      const { application } = await deps.refusedRequests.watch(client.application, "revoke", () =>
        authenticateClient(deps, organisation, call, client),
      );
      const token = form.values.get("token");
      if (token === undefined) throw new OAuthError("invalid_request", "token is missing");
      const address = addressOf(request);
      // token_type_hint is not needed: the format of a token tells its type (RFC 7009 §2.1).
      const familyId = familyIdFromRefreshToken(deps, organisation.id, token);
      if (familyId === undefined)
        await revokeSingleToken(deps, organisation, application, { token, address });
      else await revokeRefreshToken(deps, application, { familyId, address });
      return reply.code(200).header("cache-control", "no-store").send();
    }),
  );
}

const foreignToken = () => new OAuthError("invalid_grant", "the token was issued to another client");

async function revokeRefreshToken(
  deps: RevokeDeps,
  application: Application,
  { familyId, address }: { readonly familyId: string; readonly address: string },
): Promise<void> {
  const { id: clientId, orgId } = application;
  const family = await findTokenFamily(deps.database.query, orgId, familyId);
  if (!family) return;
  if (family.applicationId !== clientId) throw foreignToken();
  const { userId } = family;
  const audit = { action: "refresh-token.revoked", clientId, address, userId } as const;
  await revokeFamily(deps, { orgId, familyId, reason: "revoked_by_client", ...audit });
}

async function revokeSingleToken(
  deps: RevokeDeps,
  organisation: Organisation,
  application: Application,
  { token, address }: { readonly token: string; readonly address: string },
): Promise<void> {
  const claims = await deps.accessTokens.read(organisation, token);
  if (!claims) return;
  if (claims.client_id !== application.id) throw foreignToken();
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
