/** /oauth/{org}/register/{clientId} (RFC 7592): a client reads, replaces and deletes its own registration. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  deleteRegistration,
  type OwnRegistration,
  type OwnRegistrationDeps,
  readRegistration,
  replaceOwnRegistration,
} from "../../../core/client-registration/change-registration.ts";
import {
  clientInformation,
  type RegisteredClient,
} from "../../../core/client-registration/metadata-document.ts";
import { issuerOf, type Organisation } from "../../../core/organisations/organisation.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { type InOrganisation, inOrganisation } from "../../../http/organisation-lookup.ts";
import type { RegisterDeps } from "./register.route.ts";
import { presentedToken, readMetadata, refusingTokens, sendInformation } from "./registration-call.ts";

export interface ClientConfigurationDeps extends RegisterDeps, OwnRegistrationDeps {}

export function clientConfigurationRoutes(app: FastifyInstance, deps: ClientConfigurationDeps): void {
  const find = deps.organisations.find;
  const information =
    (act: (own: OwnRegistration, request: FastifyRequest) => Promise<RegisteredClient>) =>
    async ({ organisation, request, reply }: InOrganisation<Organisation>) => {
      const own = ownOf(organisation, request);
      const client = await refusingTokens(deps, organisation, request, () => act(own, request));
      const issuer = issuerOf(deps.baseUrl, organisation.id);
      return sendInformation(reply, 200, clientInformation(client, issuer));
    };
  app.get(
    "/oauth/:org/register/:clientId",
    inOrganisation<Organisation>(
      find,
      information((own) => readRegistration(deps, own)),
    ),
  );
  app.put(
    "/oauth/:org/register/:clientId",
    inOrganisation<Organisation>(
      find,
      information((own, request) => replaceOwnRegistration(deps, own, () => readMetadata(request))),
    ),
  );
  app.delete(
    "/oauth/:org/register/:clientId",
    inOrganisation<Organisation>(find, async ({ organisation, request, reply }) => {
      const own = ownOf(organisation, request);
      await refusingTokens(deps, organisation, request, () => deleteRegistration(deps, own));
      return reply.code(204).header("cache-control", "no-store").send();
    }),
  );
}

/** @throws OAuthError invalid_token */
function ownOf(organisation: Organisation, request: FastifyRequest): OwnRegistration {
  const { clientId = "" } = request.params as { clientId?: string };
  const token = presentedToken(organisation, request);
  return { orgId: organisation.id, clientId: clientId.toLowerCase(), token, address: addressOf(request) };
}
