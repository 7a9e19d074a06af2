/** GET connections/{id}/saml/metadata: what Signet is at this identity provider (SAML 2.0 Metadata §2.4.4). Its address is the entityID. */
import type { FastifyInstance } from "fastify";
import { samlAddresses } from "../../../../core/connections/connection-addresses.ts";
import { findConnection } from "../../../../core/connections/connections.store.ts";
import { serviceCertificate, serviceKey } from "../../../../core/connections/saml/sp-key.ts";
import { escapeXml, namespaces } from "../../../../core/connections/saml/xml.ts";
import { isSignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { NotFound } from "../../../../http/errors.ts";
import { browserRoute, type Visit } from "../../authorize/browser.ts";
import { type ConnectionDeps, connectionId } from "../connection-visit.ts";

export function samlMetadataRoute(app: FastifyInstance, deps: ConnectionDeps): void {
  app.get("/oauth/:org/connections/:id/saml/metadata", browserRoute(deps, metadata));
}

/** Before it is enabled too: the identity provider is set up with it first. */
async function metadata(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const id = connectionId(visit);
  const orgId = visit.organisation.id;
  const connection = id === undefined ? undefined : await findConnection(deps.database.query, { orgId, id });
  if (connection?.kind !== "saml") throw new NotFound("connection");
  const key = serviceKey(deps.encryption, connection);
  const certificate = serviceCertificate(key, connection).toString("base64");
  const { acsUri, spEntityId, sloUri } = samlAddresses(deps.baseUrl, connection);
  const logout = isSignInConnection(connection) && connection.settings.upstreamLogout ? sloUri : undefined;
  const document = metadataDocument({ acsUri, spEntityId, sloUri: logout, certificate });
  await visit.reply
    .type("application/samlmetadata+xml")
    .header("content-security-policy", "default-src 'none'")
    .header("content-disposition", 'attachment; filename="signet-metadata.xml"')
    .send(document);
}

interface Described {
  readonly acsUri: string;
  readonly spEntityId: string;
  /** Undefined where no logout is taken. */
  readonly sloUri: string | undefined;
  /** DER in base64. */
  readonly certificate: string;
}

const BINDINGS = "urn:oasis:names:tc:SAML:2.0:bindings";
const ENCRYPTION = [
  "http://www.w3.org/2009/xmlenc11#aes256-gcm",
  "http://www.w3.org/2009/xmlenc11#aes128-gcm",
  "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p",
];

function metadataDocument({ acsUri, spEntityId, sloUri, certificate }: Described): string {
  const info = `<ds:KeyInfo xmlns:ds="${namespaces.signature}"><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
  const methods = ENCRYPTION.map((algorithm) => `<md:EncryptionMethod Algorithm="${algorithm}"/>`).join("");
  const logout = ["HTTP-Redirect", "HTTP-POST"].map((binding) =>
    sloUri === undefined
      ? ""
      : `<md:SingleLogoutService Binding="${BINDINGS}:${binding}" Location="${escapeXml(sloUri)}"/>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="${namespaces.metadata}" entityID="${escapeXml(spEntityId)}"><md:SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true" protocolSupportEnumeration="${namespaces.protocol}"><md:KeyDescriptor use="signing">${info}</md:KeyDescriptor><md:KeyDescriptor use="encryption">${info}${methods}</md:KeyDescriptor>${logout.join("")}<md:AssertionConsumerService Binding="${BINDINGS}:HTTP-POST" Location="${escapeXml(acsUri)}" index="0" isDefault="true"/></md:SPSSODescriptor></md:EntityDescriptor>
`;
}
