/**
 * A TPM in software, as far as enrolment needs one: it makes keys, activates credentials and certifies, and does each of
 * them wrong when a test asks for that. No secret of it is guarded.
 */
import {
  constants,
  createDecipheriv,
  createHash,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  privateDecrypt,
  randomBytes,
  sign,
} from "node:crypto";
import { curveSize, hashNumber, hashSize, type TpmCurve, type TpmHash, tpmAlg } from "../tpm/algorithms.ts";
import { attestTypes, TPM_GENERATED, type TpmSignature } from "../tpm/attest.ts";
import { bufferReader, sized, u8, u16, u32, unsized } from "../tpm/buffer-reader.ts";
import {
  type Credential,
  credentialKeys,
  type EkKind,
  ekKindOf,
  IDENTITY,
  kdfE,
} from "../tpm/make-credential.ts";
import {
  keyAttributes,
  nameOf,
  type PublicArea,
  type PublicFields,
  readPublicArea,
  type TpmScheme,
  writePublicArea,
} from "../tpm/public-area.ts";

const { fixedTpm, fixedParent, sensitiveDataOrigin, userWithAuth, restricted, sign: signs } = keyAttributes;

/** What a device's key is made with. */
export const DEVICE_KEY_ATTRIBUTES = fixedTpm | fixedParent | sensitiveDataOrigin | userWithAuth | signs;
export const AK_ATTRIBUTES = DEVICE_KEY_ATTRIBUTES | restricted;

export interface SoftKey {
  readonly privateKey: KeyObject;
  readonly area: PublicArea;
  /** TPM2B_PUBLIC. */
  readonly tpm2b: Buffer;
  readonly name: Buffer;
}

export interface SoftKeyInput {
  readonly kind?: "ecc" | "rsa";
  readonly curve?: TpmCurve;
  readonly bits?: number;
  readonly nameAlg?: TpmHash;
  readonly attributes?: number;
  /** Null: none is fixed. */
  readonly scheme?: TpmScheme | null;
  readonly privateKey?: KeyObject;
}

/** An AK of P-256 with ECDSA and SHA-256 where nothing else is said. */
export const softAk = (input: SoftKeyInput = {}): SoftKey =>
  softKey({
    attributes: AK_ATTRIBUTES,
    scheme: { alg: input.kind === "rsa" ? tpmAlg.rsaSsa : tpmAlg.ecdsa, hash: "sha256" },
    ...input,
  });

/** A device's own key. */
export const softDeviceKey = (input: SoftKeyInput = {}): SoftKey =>
  softKey({ attributes: DEVICE_KEY_ATTRIBUTES, scheme: null, ...input });

const rsaKeys = new Map<number, KeyObject>();

/** The same for every attestation or device key of its length: making one costs more than most tests. */
function rsaKey(bits: number): KeyObject {
  const key = rsaKeys.get(bits) ?? generateKeyPairSync("rsa", { modulusLength: bits }).privateKey;
  rsaKeys.set(bits, key);
  return key;
}

function softKey(input: SoftKeyInput): SoftKey {
  const { kind = "ecc", curve = "P-256", bits = 2048 } = input;
  const privateKey =
    input.privateKey ??
    (kind === "rsa" ? rsaKey(bits) : generateKeyPairSync("ec", { namedCurve: curve }).privateKey);
  const jwk = createPublicKey(privateKey.export({ format: "pem", type: "pkcs8" })).export({ format: "jwk" });
  const number = (text: string | undefined) => Buffer.from(text ?? "", "base64url");
  const fields: PublicFields = {
    nameAlg: input.nameAlg ?? "sha256",
    attributes: input.attributes ?? 0,
    authPolicy: Buffer.alloc(0),
    symmetricBits: undefined,
    scheme: input.scheme ?? undefined,
    key:
      kind === "rsa"
        ? { kind, bits, exponent: 0, modulus: number(jwk.n) }
        : { kind, curve, x: number(jwk.x), y: number(jwk.y) },
  };
  const bytes = writePublicArea(fields);
  const area = readPublicArea(bytes);
  return { privateKey, area, tpm2b: sized(bytes), name: nameOf(area) };
}

export type SoftEkKind = "rsa2048" | "p256" | "p384";

export function softEk(kind: SoftEkKind): KeyObject {
  if (kind === "rsa2048") return generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  return generateKeyPairSync("ec", { namedCurve: kind === "p256" ? "P-256" : "P-384" }).privateKey;
}

/**
 * TPM2_ActivateCredential (TPM 2.0 Part 1 §24): what was hidden for the key of that name in the TPM of this EK.
 * @throws Error as a TPM refuses: the credential is another key's or another TPM's
 */
export function activateCredential(ek: KeyObject, name: Buffer, credential: Credential): Buffer {
  const kind = ekKindOf(createPublicKey(ek.export({ format: "pem", type: "pkcs8" })));
  const seed = seedOf(ek, kind, unsized(credential.encryptedSecret));
  const reader = bufferReader(unsized(credential.credentialBlob));
  const mac = reader.sized();
  const identity = reader.rest();
  const keys = credentialKeys(kind, seed, name);
  const expected = createHmac(kind.hash, keys.mac).update(identity).update(name).digest();
  if (!mac.equals(expected)) throw new Error("TPM_RC_INTEGRITY");
  const decipher = createDecipheriv(`aes-${kind.aesBits}-cfb`, keys.aes, Buffer.alloc(16));
  return unsized(Buffer.concat([decipher.update(identity), decipher.final()]));
}

function seedOf(ek: KeyObject, { hash, curve }: EkKind, encrypted: Buffer): Buffer {
  if (!curve) {
    const padding = constants.RSA_PKCS1_OAEP_PADDING;
    return privateDecrypt(
      { key: ek, padding, oaepHash: hash, oaepLabel: Buffer.from(`${IDENTITY}\0`) },
      encrypted,
    );
  }
  const reader = bufferReader(encrypted);
  const [x, y] = [reader.sized(), reader.sized()];
  const [textX, textY] = [x, y].map((number) => number.toString("base64url"));
  const jwk = { kty: "EC", crv: curve, x: textX ?? "", y: textY ?? "" };
  const z = diffieHellman({ privateKey: ek, publicKey: createPublicKey({ format: "jwk", key: jwk }) });
  const own = Buffer.from(String(ek.export({ format: "jwk" }).x), "base64url");
  return kdfE({ hash, z, label: IDENTITY, partyU: x, partyV: own, bits: hashSize(hash) * 8 });
}

export interface SoftAttestation {
  readonly attest: Buffer;
  readonly signature: Buffer;
}

export interface Certification {
  readonly name: Buffer;
  readonly extraData: Buffer;
  /** TPM2_Certify when left out. */
  readonly type?: keyof typeof attestTypes;
  /** Changes the attestation before it is signed, which no TPM does. */
  readonly forge?: (attest: Buffer) => Buffer;
}

export function certify(ak: SoftKey, { name, extraData, type, forge }: Certification): SoftAttestation {
  const honest = writeAttest({
    type: attestTypes[type ?? "certify"],
    signer: Buffer.concat([Buffer.from("000b", "hex"), createHash("sha256").update(ak.name).digest()]),
    extraData,
    name,
    last: Buffer.concat([Buffer.from("000b", "hex"), randomBytes(32)]),
  });
  const attest = forge ? forge(honest) : honest;
  return { attest, signature: writeSignature(signTpm(ak, attest)) };
}

/** What the key's TPM makes of the bytes, whatever they are: a real one signs only its own with a restricted key. */
export function signTpm({ privateKey, area }: SoftKey, bytes: Buffer): TpmSignature {
  const { scheme, key } = area;
  const hash = scheme?.hash ?? "sha256";
  if (key.kind === "ecc") {
    const flat = sign(hash, bytes, { key: privateKey, dsaEncoding: "ieee-p1363" });
    const size = curveSize(key.curve);
    return { alg: tpmAlg.ecdsa, hash, r: flat.subarray(0, size), s: flat.subarray(size) };
  }
  const isPss = scheme?.alg === tpmAlg.rsaPss;
  const padding = isPss ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const value = sign(hash, bytes, { key: privateKey, padding });
  return { alg: isPss ? tpmAlg.rsaPss : tpmAlg.rsaSsa, hash, value };
}

interface AttestFields {
  /** A number of `attestTypes`. */
  readonly type: number;
  readonly signer: Buffer;
  readonly extraData: Buffer;
  readonly name: Buffer;
  /** qualifiedName, or creationHash. */
  readonly last: Buffer;
}

/** Clock and counters are zero. */
function writeAttest({ type, signer, extraData, name, last }: AttestFields): Buffer {
  return Buffer.concat([
    u32(TPM_GENERATED),
    u16(type),
    sized(signer),
    sized(extraData),
    Buffer.alloc(16),
    u8(1),
    Buffer.alloc(8),
    sized(name),
    sized(last),
  ]);
}

export function writeSignature(signature: TpmSignature): Buffer {
  const { alg, hash } = signature;
  const values = "value" in signature ? [signature.value] : [signature.r, signature.s];
  return Buffer.concat([u16(alg), u16(hashNumber(hash)), ...values.map(sized)]);
}
