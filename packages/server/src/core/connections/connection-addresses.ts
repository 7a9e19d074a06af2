/** The addresses of a connection that its identity provider has to know (connections.md §2). */
import type { ConnectionKey } from "./connection.ts";

const address = (baseUrl: string, { orgId, id }: ConnectionKey, rest: string) =>
  `${baseUrl}/oauth/${orgId}/connections/${id}/${rest}`;

export const callbackUri = (baseUrl: string, key: ConnectionKey): string => address(baseUrl, key, "callback");

export const logoutAddresses = (baseUrl: string, key: ConnectionKey) => ({
  backchannelLogoutUri: address(baseUrl, key, "backchannel-logout"),
  postLogoutRedirectUri: address(baseUrl, key, "logged-out"),
});

export const samlAddresses = (baseUrl: string, key: ConnectionKey) => ({
  acsUri: address(baseUrl, key, "saml/acs"),
  /** The metadata is there. */
  spEntityId: address(baseUrl, key, "saml/metadata"),
  sloUri: address(baseUrl, key, "saml/slo"),
});
