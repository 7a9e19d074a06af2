/** A self-signed certificate for an https server of a test, made on the spot so that no private key lies in the tree. */
import { testCertificate } from "@signet/protocol/testing/test-certificate";

export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

/** For `localhost` and 127.0.0.1, from an hour ago to a day ahead. */
export function selfSigned(): SelfSigned {
  const { privateKey, pem } = testCertificate({
    subject: "localhost",
    isCa: true,
    keyUsage: null,
    hosts: ["localhost"],
    addresses: ["127.0.0.1"],
  });
  return { key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(), cert: pem };
}
