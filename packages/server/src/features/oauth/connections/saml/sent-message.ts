/** A SAML message as a binding has brought it: what it says counts once `verify` has returned what was signed. */
import type { XmlElement } from "../../../../core/connections/saml/xml.ts";

export const messageNames = ["SAMLRequest", "SAMLResponse"] as const;
export type MessageName = (typeof messageNames)[number];

export interface SentMessage {
  readonly name: MessageName;
  readonly xml: Buffer;
  readonly relayState: string | undefined;
  /**
   * @param root of `xml`
   * @param certificates PEM, of the record alone
   * @returns the message as it was signed; `root` where all that came was
   * @throws ConnectionSignInFailure, XmlRefused
   */
  verify(root: XmlElement, certificates: readonly string[]): Promise<XmlElement>;
}
