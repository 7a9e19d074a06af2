/** Sends a browser to a SAML identity provider, by Redirect: a signed AuthnRequest (SAML 2.0 Core §3.4.1), and a LogoutRequest (§3.7.1). */
import { samlAddresses } from "../../../../core/connections/connection-addresses.ts";
import { serviceKey } from "../../../../core/connections/saml/sp-key.ts";
import { escapeXml, namespaces } from "../../../../core/connections/saml/xml.ts";
import { newLogoutHandle, parkLogout } from "../../../../core/connections/sign-in/saml-returns.store.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { providerOf } from "../../../../core/connections/sign-in/sign-in-settings.ts";
import type { Encryption } from "../../../../core/encryption/encryption.ts";
import type { Macs } from "../../../../core/encryption/macs.ts";
import type { Database } from "../../../../db/open.ts";
import { startSecrets } from "../connection-visit.ts";
import type { Upstream, UpstreamSignOut } from "../upstream.ts";
import { type LogoutHint, logoutRequestAddress } from "./logout-messages.ts";
import { instant, redirectAddress, written } from "./redirect-binding.ts";

const POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";

/** An ID is an NCName: it begins with a letter, or with this. */
export const requestId = ({ nonce }: { readonly nonce: string }): string => `_${nonce}`;

export interface SamlUpstreamDeps {
  readonly database: Database;
  readonly encryption: Encryption;
  readonly startMacs: Macs;
  readonly baseUrl: string;
  readonly clock: () => number;
}

export function samlUpstream(deps: SamlUpstreamDeps): Upstream {
  return {
    begin: async (connection, { state, nonce, mustReauthenticate, maxAgeSeconds }) => {
      const { acsUri, spEntityId } = samlAddresses(deps.baseUrl, connection);
      const { ssoUrl } = providerOf(connection.settings);
      // There is no max_age in SAML: who may have signed in too long ago signs in again.
      const forces = mustReauthenticate || maxAgeSeconds !== undefined;
      const attributes = {
        ...{ ID: requestId({ nonce }), Version: "2.0", IssueInstant: instant(deps.clock()) },
        ...{ Destination: ssoUrl, AssertionConsumerServiceURL: acsUri, ProtocolBinding: POST },
        ...(forces ? { ForceAuthn: "true" } : {}),
      };
      const message = `<samlp:AuthnRequest xmlns:samlp="${namespaces.protocol}" xmlns:saml="${namespaces.assertion}"${written(
        attributes,
      )}><saml:Issuer>${escapeXml(spEntityId)}</saml:Issuer><samlp:NameIDPolicy AllowCreate="true"/></samlp:AuthnRequest>`;
      const key = serviceKey(deps.encryption, connection);
      return redirectAddress(ssoUrl, { name: "SAMLRequest", message, relayState: state }, key);
    },
    logoutAddress: (connection, signOut) => logoutAddress(deps, connection, signOut),
  };
}

/** @returns undefined where the provider takes none, or nothing was kept by which it would know who leaves */
async function logoutAddress(
  { database, encryption, startMacs, baseUrl, clock }: SamlUpstreamDeps,
  connection: SignInConnection,
  { hint, state }: UpstreamSignOut,
): Promise<string | undefined> {
  const { sloUrl } = providerOf(connection.settings);
  if (sloUrl === null || hint === undefined) return undefined;
  const [handle, now] = [newLogoutHandle(), clock()];
  await parkLogout(database.query, encryption, connection, { handle, state, now });
  const id = requestId(startSecrets(startMacs, connection, handle));
  const { spEntityId } = samlAddresses(baseUrl, connection);
  const sender = { sloUrl, spEntityId, key: serviceKey(encryption, connection), now };
  const known = JSON.parse(hint) as LogoutHint;
  return logoutRequestAddress(sender, known, { id, relayState: handle });
}
