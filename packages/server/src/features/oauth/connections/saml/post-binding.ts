/** Logout messages in a form (SAML 2.0 Bindings §3.5): signed as XML, and only what was signed is read. */
import type { Form } from "@signet/protocol/form";
import { allElements, type XmlElement, XmlRefused } from "../../../../core/connections/saml/xml.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { messageNames, type SentMessage } from "./sent-message.ts";
import { requireUniqueIds, signatureOf, signedElement } from "./xml-signature.ts";

/** @throws XmlRefused */
export function readPost({ values, repeated }: Form): SentMessage {
  const [name, ...others] = messageNames.filter((one) => values.has(one));
  if (name === undefined || others.length > 0 || repeated.size > 0)
    throw new XmlRefused("it is not one message");
  const xml = Buffer.from(values.get(name) ?? "", "base64");
  return {
    ...{ name, xml, relayState: values.get("RelayState") },
    verify: (root, certificates) => signedMessage(xml, root, certificates),
  };
}

async function signedMessage(
  xml: Buffer,
  root: XmlElement,
  certificates: readonly string[],
): Promise<XmlElement> {
  requireUniqueIds(root);
  const signature = signatureOf(root);
  if (signature === undefined)
    throw new ConnectionSignInFailure("signature-invalid", { detail: `${root.localName}: it is not signed` });
  const all = allElements(root).filter(({ localName }) => localName === "Signature");
  if (all.length > 1) throw new XmlRefused("it has a signature in another place");
  return signedElement(new TextDecoder().decode(xml), root, signature, certificates);
}
