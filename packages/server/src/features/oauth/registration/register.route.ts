/** POST /oauth/{org}/register (RFC 7591 §3): a client registers itself with an initial access token of the organisation. */
import type { FastifyInstance } from "fastify";
import { clientInformation } from "../../../core/client-registration/metadata-document.ts";
import {
  findUsableToken,
  type RegistrationDeps,
  registerClient,
} from "../../../core/client-registration/register-client.ts";
import { issuerOf, type Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import {
  presentedToken,
  type RegistrationLimitDeps,
  readMetadata,
  refusingTokens,
  sendInformation,
} from "./registration-call.ts";

export interface RegisterDeps extends RegistrationDeps, RegistrationLimitDeps {
  readonly organisations: OrganisationDirectory;
}

export function registerRoute(app: FastifyInstance, deps: RegisterDeps): void {
  app.post(
    "/oauth/:org/register",
    inOrganisation<Organisation>(deps.organisations.find, async ({ organisation, request, reply }) => {
      const presented = presentedToken(organisation, request);
      const registered = await refusingTokens(deps, organisation, request, async () => {
        const token = await findUsableToken(deps, organisation.id, presented);
        const address = addressOf(request);
        return registerClient(deps, { token, metadata: readMetadata(request), address });
      });
      const issuer = issuerOf(deps.baseUrl, organisation.id);
      return sendInformation(reply, 201, clientInformation(registered, issuer));
    }),
  );
}
