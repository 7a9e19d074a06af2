/** The public half of a key on a token, as a JWK. */
import type { webcrypto } from "node:crypto";
import { InvalidKey } from "./key-source.ts";
import type { Handle, Pkcs11 } from "./pkcs11-library.ts";

const CKA_KEY_TYPE = 0x100;
const CKA_MODULUS = 0x120;
const CKA_PUBLIC_EXPONENT = 0x122;
const CKA_EC_PARAMS = 0x180;
const CKA_EC_POINT = 0x181;
const CKK_RSA = 0;
const CKK_EC = 3;
const CKK_EC_EDWARDS = 0x40;

interface Curve {
  readonly crv: string;
  readonly kty: "EC" | "OKP";
  /** Length of one coordinate. */
  readonly bytes: number;
}

// DER object identifiers (RFC 5480 §2.1.1.1, RFC 8410 §3); PKCS #11 3.0 §2.3.5 also allows Ed25519 by name.
const curves: ReadonlyMap<string, Curve> = new Map([
  ["06082a8648ce3d030107", { crv: "P-256", kty: "EC", bytes: 32 }],
  ["06052b81040022", { crv: "P-384", kty: "EC", bytes: 48 }],
  ["06032b6570", { crv: "Ed25519", kty: "OKP", bytes: 32 }],
  ["130c656477617264733235353139", { crv: "Ed25519", kty: "OKP", bytes: 32 }],
]);

/** @throws InvalidKey for a type of key that cannot sign tokens */
export function pkcs11PublicJwk(calls: Pkcs11, session: Handle, key: Handle): webcrypto.JsonWebKey {
  const read = (...types: number[]) => {
    const template = types.map((type) => ({ type }));
    return calls.C_GetAttributeValue(session, key, template);
  };
  const kind = read(CKA_KEY_TYPE)[0]?.value.readUIntLE(0, 4);
  if (kind === CKK_RSA) {
    const [n, e] = read(CKA_MODULUS, CKA_PUBLIC_EXPONENT).map(({ value }) => unsigned(value));
    return { kty: "RSA", n: n ?? "", e: e ?? "" };
  }
  if (kind !== CKK_EC && kind !== CKK_EC_EDWARDS)
    throw new InvalidKey("the token's key is neither RSA nor EC");
  const [params, point] = read(CKA_EC_PARAMS, CKA_EC_POINT);
  const curve = curves.get(params?.value.toString("hex") ?? "");
  if (!curve || !point) throw new InvalidKey("the token's key is not on P-256, P-384 or Ed25519");
  return curveJwk(curve, point.value);
}

/** The point is a DER OCTET STRING; some tokens omit the wrapping. */
function curveJwk({ crv, kty, bytes }: Curve, point: Buffer): webcrypto.JsonWebKey {
  const length = kty === "OKP" ? bytes : 1 + 2 * bytes;
  const raw = point.length === length ? point : point.subarray(-length);
  if (kty === "OKP") return { kty, crv, x: raw.toString("base64url") };
  if (raw.length !== length || raw[0] !== 4)
    throw new InvalidKey("the token's public key is not an uncompressed point");
  const coordinate = (start: number) => raw.subarray(start, start + bytes).toString("base64url");
  return { kty, crv, x: coordinate(1), y: coordinate(1 + bytes) };
}

/** Without leading zeros (RFC 7518 §6.3.1.1). */
function unsigned(value: Buffer): string {
  const start = value.findIndex((byte) => byte !== 0);
  return value.subarray(Math.max(start, 0)).toString("base64url");
}
