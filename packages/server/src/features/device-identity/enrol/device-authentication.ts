/** Resolves the organisation of a device's call; its credential is in the body, or is the client certificate. */
import { isUuid } from "@signet/protocol/hash";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import type { ApiAuthenticator } from "../../../http/api/api-route.ts";
import { codedNotFound } from "../../../http/coded-error.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";

export interface DeviceCaller {
  readonly organisation: Organisation;
  readonly address: string;
}

export const deviceAuthenticator = (
  organisations: Pick<OrganisationDirectory, "find">,
): ApiAuthenticator<DeviceCaller> => ({
  authenticate: async (request) => {
    const { org = "" } = request.params as { org?: string };
    const organisation = isUuid(org) ? await organisations.find(org.toLowerCase()) : undefined;
    if (!organisation) throw codedNotFound();
    return { organisation, address: addressOf(request) };
  },
});
