/** Valid configurations, for tests to modify. */
import type { SignetConfiguration } from "../configuration/settings.ts";
import { AUDIENCE, CLIENT_ID } from "./test-provider.ts";

/** Match `test-provider.ts`. */
export const FEDERATION_SERVER = "https://id.example";
export const ORGANISATION_ID = "0197aaaa-0000-7000-8000-000000000001";
export const COOKIE_SECRET = "AAMGCQwPEhUYGx4hJCcqLTAzNjk8P0JFSEtOUVRXWl0";

export const federated = {
  filterType: "OAuthFederated",
  federationServer: FEDERATION_SERVER,
  applicationId: CLIENT_ID,
  oauthOrganisationId: ORGANISATION_ID,
  baseUrl: "https://app.example",
  cookieSecrets: [COOKIE_SECRET],
} satisfies SignetConfiguration;

export const bearer = {
  filterType: "OAuthUserBearer",
  federationServer: FEDERATION_SERVER,
  applicationId: CLIENT_ID,
  oauthOrganisationId: ORGANISATION_ID,
  oauthAudience: AUDIENCE,
} satisfies SignetConfiguration;

export const legacy = {
  filterType: "UserFederated",
  federationServer: FEDERATION_SERVER,
  applicationId: CLIENT_ID,
  baseUrl: "https://app.example",
  cookieSecrets: [COOKIE_SECRET],
} satisfies SignetConfiguration;

export const systemAccount = {
  filterType: "SystemAccountExternal",
  federationServer: FEDERATION_SERVER,
  applicationId: CLIENT_ID,
} satisfies SignetConfiguration;
