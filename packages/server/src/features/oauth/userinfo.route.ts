/** GET and POST userinfo (OpenID Connect Core §5.3): the claims that the access token gives access to. */
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import { type AddedClaimsDeps, userinfoClaims } from "../../core/tokens/added-claims.ts";
import { familyOfTokenId } from "../../core/tokens/claims.ts";
import { inOrganisation } from "../../http/organisation-lookup.ts";
import { type BearerDeps, bearerUser } from "./bearer-user.ts";

export interface UserinfoDeps extends BearerDeps, AddedClaimsDeps {
  readonly organisations: OrganisationDirectory;
}

export function userinfoRoutes(app: FastifyInstance, deps: UserinfoDeps): void {
  const handler = inOrganisation<Organisation>(
    deps.organisations.find,
    async ({ organisation, request, reply }) => {
      const { user, claims, scopes } = await bearerUser(deps, organisation, request);
      const application = await deps.applications.find(organisation.id, claims.client_id);
      const answer = await userinfoClaims(deps, {
        user,
        scopes,
        allowed: application?.settings.allowedScopes ?? [],
        familyId: familyOfTokenId(claims.jti),
      });
      reply.headers({ "cache-control": "no-store", "content-type": "application/json" });
      return reply.send(JSON.stringify(answer));
    },
  );
  app.get("/oauth/:org/userinfo", handler);
  app.post("/oauth/:org/userinfo", handler);
}
