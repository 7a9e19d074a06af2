/** The certificates that a key was registered with: what `x5c` in a token's header must be, to the byte. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { jwkThumbprint } from "@signet/protocol/jose/jwk";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import { InvalidKey } from "./key-source.ts";

const MOST_CERTIFICATES = 4;
const pem = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * @returns base64 DER, leaf first
 * @throws InvalidKey when the first certificate is not the key's own, or there are none or more than four
 */
export async function readChain(path: string, publicJwk: PublicKeyMembers): Promise<string[]> {
  const found = (await readFile(path, "utf8")).match(pem) ?? [];
  if (found.length === 0 || found.length > MOST_CERTIFICATES)
    throw new InvalidKey(
      `${path} must hold 1 to ${MOST_CERTIFICATES} certificates in PEM, the key's own first`,
    );
  const certificates = found.map((text) => parse(text, path));
  const leaf = certificates[0]?.publicKey.export({ format: "jwk" }) as PublicKeyMembers;
  if (jwkThumbprint(leaf) !== jwkThumbprint(publicJwk))
    throw new InvalidKey(`the first certificate of ${path} is not of this key`);
  return certificates.map(({ raw }) => raw.toString("base64"));
}

function parse(text: string, path: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new InvalidKey(`${path} holds a certificate that cannot be read`, { cause: error });
  }
}
