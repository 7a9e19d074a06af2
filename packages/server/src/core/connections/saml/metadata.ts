/** What a SAML identity provider publishes about itself (SAML 2.0 Metadata §2.4.3). */
import { X509Certificate } from "node:crypto";
import {
  attributeOf,
  childrenNamed,
  isElement,
  namespaces,
  onlyChild,
  parseXml,
  textOf,
  type XmlElement,
  XmlRefused,
} from "./xml.ts";

const REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect";
export const MAX_CERTIFICATES = 10;

export interface ProviderDescription {
  readonly entityId: string;
  readonly ssoUrl: string;
  readonly sloUrl: string | null;
  /** Where it is not `sloUrl`. */
  readonly sloResponseUrl: string | undefined;
  /** PEM. */
  readonly certificates: readonly string[];
}

/** @throws XmlRefused with what is wrong, in words for who has written it */
export async function readMetadata(xml: Buffer, now: number): Promise<ProviderDescription> {
  const root = await parseXml(xml);
  if (!isElement(root, "metadata", "EntityDescriptor"))
    throw new XmlRefused("it is no EntityDescriptor of one identity provider");
  const role = childrenNamed(root, "metadata", "IDPSSODescriptor").find(supportsSaml2);
  if (!role) throw new XmlRefused("it describes no SAML 2.0 identity provider");
  if ([root, role].some((element) => hasEnded(element, now))) throw new XmlRefused("it is no longer valid");
  const ssoUrl = redirectService(role, "SingleSignOnService")?.location;
  if (ssoUrl === undefined)
    throw new XmlRefused("it has no SingleSignOnService of the HTTP-Redirect binding");
  const logout = redirectService(role, "SingleLogoutService");
  return {
    entityId: attributeOf(root, "entityID") ?? "",
    ssoUrl,
    sloUrl: logout?.location ?? null,
    sloResponseUrl: logout?.responseLocation,
    certificates: signingCertificates(role),
  };
}

const supportsSaml2 = (role: XmlElement): boolean =>
  (attributeOf(role, "protocolSupportEnumeration") ?? "").split(/\s+/).includes(namespaces.protocol);

function hasEnded(element: XmlElement, now: number): boolean {
  const until = attributeOf(element, "validUntil");
  return until !== undefined && !(Date.parse(until) > now);
}

function redirectService(role: XmlElement, name: string) {
  const service = childrenNamed(role, "metadata", name).find(
    (one) => attributeOf(one, "Binding") === REDIRECT,
  );
  if (!service) return undefined;
  const [location, responseLocation] = ["Location", "ResponseLocation"].map((one) =>
    attributeOf(service, one),
  );
  return { location, responseLocation };
}

/** Without `use` a key is for both (§2.4.1.1). */
function signingCertificates(role: XmlElement): string[] {
  const keys = childrenNamed(role, "metadata", "KeyDescriptor").filter(
    (key) => (attributeOf(key, "use") ?? "signing") === "signing",
  );
  const found = keys.flatMap((key) => {
    const info = onlyChild(key, "signature", "KeyInfo");
    const data = info ? childrenNamed(info, "signature", "X509Data") : [];
    return data.flatMap((one) => childrenNamed(one, "signature", "X509Certificate")).map(textOf);
  });
  const read = found.map((text) => readCertificate(text));
  if (read.some((certificate) => certificate === undefined))
    throw new XmlRefused("it has a certificate that is none");
  const all = [...new Set(read.filter((certificate) => certificate !== undefined))];
  // Some publish an EC key beside: it signs nothing that is taken here. Of none that can be used, the rules say why.
  const usable = all.filter((certificate) => certificateFault(certificate) === undefined);
  return usable.length > 0 ? usable : all;
}

/** PEM, or its content alone as metadata has it. @returns PEM; undefined for what is no certificate */
export function readCertificate(text: string): string | undefined {
  const content = text.replaceAll(/-----(?:BEGIN|END) CERTIFICATE-----|\s+/g, "");
  if (content.length > 16_384 || !/^[A-Za-z0-9+/]+={0,2}$/.test(content)) return undefined;
  try {
    return new X509Certificate(Buffer.from(content, "base64")).toString();
  } catch {
    return undefined;
  }
}

/** RSA of at least 2048 bits: what signatures of XML are checked with. @returns what is wrong with it */
export function certificateFault(pem: string): string | undefined {
  const { asymmetricKeyType, asymmetricKeyDetails } = new X509Certificate(pem).publicKey;
  if (asymmetricKeyType !== "rsa") return "has an RSA key";
  return (asymmetricKeyDetails?.modulusLength ?? 0) < 2_048 ? "has a key of at least 2048 bits" : undefined;
}
