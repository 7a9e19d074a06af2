/** A self-signed certificate for an https server of a test, made on the spot so that no private key lies in the tree. */
import { generateKeyPairSync, sign } from "node:crypto";

export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

const tagged = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const header =
    length < 128
      ? [tag, length]
      : length < 256
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), content]);
};
const sequence = (...parts: readonly Buffer[]) => tagged(0x30, ...parts);
const set = (...parts: readonly Buffer[]) => tagged(0x31, ...parts);
const integer = (value: number) => tagged(0x02, Buffer.from([value]));
const oid = (hex: string) => tagged(0x06, Buffer.from(hex, "hex"));
const octets = (...parts: readonly Buffer[]) => tagged(0x04, ...parts);
const bits = (content: Buffer) => tagged(0x03, Buffer.from([0]), content);
const time = (date: Date) =>
  tagged(0x18, Buffer.from(`${date.toISOString().slice(0, 19).replace(/[-:T]/g, "")}Z`));

const ECDSA_WITH_SHA256 = sequence(oid("2a8648ce3d040302"));
const COMMON_NAME = oid("550403");
const SUBJECT_ALT_NAME = oid("551d11");
const BASIC_CONSTRAINTS = oid("551d13");

/** For `localhost` and 127.0.0.1, from an hour ago to a day ahead (RFC 5280 §4.1). */
export function selfSigned(): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(COMMON_NAME, tagged(0x0c, Buffer.from("localhost")))));
  const names = sequence(tagged(0x82, Buffer.from("localhost")), tagged(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = sequence(
    sequence(SUBJECT_ALT_NAME, octets(names)),
    sequence(BASIC_CONSTRAINTS, octets(sequence(tagged(0x01, Buffer.from([0xff]))))),
  );
  const body = sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(new Date(Date.now() - 3_600_000)), time(new Date(Date.now() + 86_400_000))),
    name,
    publicKey.export({ format: "der", type: "spki" }),
    tagged(0xa3, extensions),
  );
  const certificate = sequence(body, ECDSA_WITH_SHA256, bits(sign("sha256", body, privateKey)));
  const base64 = certificate.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}
