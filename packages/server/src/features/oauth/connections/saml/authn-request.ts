/** Sends a browser to a SAML identity provider: a signed AuthnRequest by Redirect (SAML 2.0 Core §3.4.1, Bindings §3.4). */
import { type KeyObject, sign } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { samlAddresses } from "../../../../core/connections/connection-addresses.ts";
import { serviceKey } from "../../../../core/connections/saml/sp-key.ts";
import { escapeXml, namespaces } from "../../../../core/connections/saml/xml.ts";
import { providerOf } from "../../../../core/connections/sign-in/sign-in-settings.ts";
import type { Encryption } from "../../../../core/encryption/encryption.ts";
import type { Upstream } from "../upstream.ts";

const RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
const POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";

/** An ID is an NCName: it begins with a letter, or with this. */
export const requestId = ({ nonce }: { readonly nonce: string }): string => `_${nonce}`;

export function samlUpstream(deps: {
  readonly encryption: Encryption;
  readonly baseUrl: string;
  readonly clock: () => number;
}): Upstream {
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
  };
}

export const instant = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

export const written = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
    .join("");

export interface RedirectMessage {
  readonly name: "SAMLRequest" | "SAMLResponse";
  readonly message: string;
  readonly relayState: string | undefined;
}

/** The signature is over the query as it is sent (Bindings §3.4.4.1). */
export function redirectAddress(
  url: string,
  { name, message, relayState }: RedirectMessage,
  key: KeyObject,
): string {
  const parameters = [
    [name, deflateRawSync(message).toString("base64")],
    ...(relayState === undefined ? [] : [["RelayState", relayState]]),
    ["SigAlg", RSA_SHA256],
  ] as const;
  const query = parameters.map(([field, value = ""]) => `${field}=${encodeURIComponent(value)}`).join("&");
  const signature = sign("sha256", Buffer.from(query), key).toString("base64");
  return `${url}${url.includes("?") ? "&" : "?"}${query}&Signature=${encodeURIComponent(signature)}`;
}
