/** Messages in the query of an address (SAML 2.0 Bindings §3.4): deflated, and signed over the query as it is sent. */
import { constants, type KeyObject, sign, verify, X509Certificate } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { escapeXml, MAX_XML_BYTES, XmlRefused } from "../../../../core/connections/saml/xml.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { type MessageName, messageNames, type SentMessage } from "./sent-message.ts";
import { unknownKey } from "./xml-signature.ts";

const RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
const DEFLATE = "urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE";

/** SHA-256 and up, as for signatures of XML. */
const algorithms: Readonly<Record<string, { readonly hash: string; readonly padding: number }>> = {
  [RSA_SHA256]: { hash: "sha256", padding: constants.RSA_PKCS1_PADDING },
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512": {
    hash: "sha512",
    padding: constants.RSA_PKCS1_PADDING,
  },
  "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1": {
    ...{ hash: "sha256", padding: constants.RSA_PKCS1_PSS_PADDING },
  },
};

export const instant = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

export const written = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
    .join("");

export interface RedirectMessage {
  readonly name: MessageName;
  readonly message: string;
  readonly relayState: string | undefined;
}

/** The signature is over the query as it is sent (§3.4.4.1). */
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

const known = [...messageNames, "RelayState", "SigAlg", "Signature", "SAMLEncoding"] as const;

/**
 * @param query as it came, not decoded: that is what was signed
 * @throws XmlRefused
 */
export function readRedirect(query: string): SentMessage {
  const sent = sentParameters(query);
  const [name, ...others] = messageNames.filter((one) => sent.has(one));
  if (name === undefined || others.length > 0) throw new XmlRefused("it is not one message");
  if ((sent.get("SAMLEncoding") ?? DEFLATE) !== DEFLATE && decoded(sent.get("SAMLEncoding")) !== DEFLATE)
    throw new XmlRefused("its encoding is not known");
  const relayState = sent.get("RelayState");
  return {
    name,
    xml: inflated(Buffer.from(decoded(sent.get(name)), "base64")),
    relayState: relayState === undefined ? undefined : decoded(relayState.replaceAll("+", " ")),
    verify: async (root, certificates) => {
      requireSignature(sent, name, certificates);
      return root;
    },
  };
}

/** By name, each at most once, as it came. */
function sentParameters(query: string): ReadonlyMap<string, string> {
  const sent = new Map<string, string>();
  for (const part of query.split("&")) {
    const at = part.indexOf("=");
    const name = known.find((one) => one === part.slice(0, at));
    if (name === undefined) continue;
    if (sent.has(name)) throw new XmlRefused(`${name} came twice`);
    sent.set(name, part.slice(at + 1));
  }
  return sent;
}

function decoded(text = ""): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new XmlRefused("its query is malformed");
  }
}

function inflated(bytes: Buffer): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: MAX_XML_BYTES });
  } catch {
    throw new XmlRefused(`it is not deflated, or larger than ${MAX_XML_BYTES} bytes`);
  }
}

/** Over these parameters, in this order (§3.4.4.1). @throws ConnectionSignInFailure */
function requireSignature(
  sent: ReadonlyMap<string, string>,
  name: MessageName,
  certificates: readonly string[],
): void {
  const signature = sent.get("Signature");
  if (signature === undefined)
    throw new ConnectionSignInFailure("signature-invalid", { detail: `${name}: it is not signed` });
  const algorithm = algorithms[decoded(sent.get("SigAlg"))];
  if (algorithm === undefined) throw new ConnectionSignInFailure("algorithm-refused", { detail: "SigAlg" });
  const signed = [name, "RelayState", "SigAlg"].flatMap((one) =>
    sent.has(one) ? [`${one}=${sent.get(one)}`] : [],
  );
  const [content, value] = [Buffer.from(signed.join("&")), Buffer.from(decoded(signature), "base64")];
  const isOf = (pem: string) => {
    const key = new X509Certificate(pem).publicKey;
    return verify(algorithm.hash, content, { key, padding: algorithm.padding }, value);
  };
  if (!certificates.some(isOf)) throw unknownKey(name);
}
