/** TPM2_MakeCredential (TPM 2.0 Part 1 §24): a secret for the TPM that has this EK and a key of the given name. */
import {
  constants,
  createCipheriv,
  createHash,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  publicEncrypt,
  randomBytes,
} from "node:crypto";
import { curveSize, hashSize, type TpmCurve, type TpmHash } from "./algorithms.ts";
import { sized, TpmError, u32 } from "./buffer-reader.ts";

/** What follows from the kind of endorsement key (TCG EK Credential Profile, templates L-1, L-2, H-2, H-3). */
export interface EkKind {
  readonly hash: TpmHash;
  readonly aesBits: 128 | 256;
  /** Undefined for RSA. */
  readonly curve: TpmCurve | undefined;
}

/** @throws TpmError `unsupported`: only RSA of 2048 bits, P-256 and P-384 are */
export function ekKindOf(ek: KeyObject): EkKind {
  const { asymmetricKeyType, asymmetricKeyDetails } = ek;
  const { modulusLength, publicExponent, namedCurve } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === "rsa" && modulusLength === 2048 && publicExponent === 65_537n)
    return { hash: "sha256", aesBits: 128, curve: undefined };
  if (asymmetricKeyType === "ec" && namedCurve === "prime256v1")
    return { hash: "sha256", aesBits: 128, curve: "P-256" };
  if (asymmetricKeyType === "ec" && namedCurve === "secp384r1")
    return { hash: "sha384", aesBits: 256, curve: "P-384" };
  throw new TpmError("unsupported", "an endorsement key must be RSA-2048, P-256 or P-384");
}

export interface Credential {
  /** TPM2B_ID_OBJECT, its size included. */
  readonly credentialBlob: Buffer;
  /** TPM2B_ENCRYPTED_SECRET, its size included. */
  readonly encryptedSecret: Buffer;
}

/** @param input.name of the key (`nameOf`). @param input.secret no longer than the EK's hash. @throws TpmError `unsupported` */
export function makeCredential(input: { ek: KeyObject; name: Buffer; secret: Buffer }): Credential {
  const kind = ekKindOf(input.ek);
  const { seed, encrypted } = kind.curve
    ? eccSeed(input.ek, kind.hash, kind.curve)
    : rsaSeed(input.ek, kind.hash);
  return {
    credentialBlob: sized(protect({ ...kind, seed, name: input.name, secret: input.secret })),
    encryptedSecret: sized(encrypted),
  };
}

/** The two keys that protect a credential (TPM 2.0 Part 1 §24.4 and §24.5). */
export function credentialKeys({ hash, aesBits }: EkKind, seed: Buffer, name: Buffer) {
  return {
    aes: kdfA({ hash, key: seed, label: "STORAGE", contextU: name, bits: aesBits }),
    mac: kdfA({ hash, key: seed, label: "INTEGRITY", bits: hashSize(hash) * 8 }),
  };
}

function protect({
  seed,
  name,
  secret,
  ...kind
}: EkKind & { seed: Buffer; name: Buffer; secret: Buffer }): Buffer {
  const keys = credentialKeys(kind, seed, name);
  const cipher = createCipheriv(`aes-${kind.aesBits}-cfb`, keys.aes, Buffer.alloc(16));
  const identity = Buffer.concat([cipher.update(sized(secret)), cipher.final()]);
  const mac = createHmac(kind.hash, keys.mac).update(identity).update(name).digest();
  return Buffer.concat([sized(mac), identity]);
}

interface Seed {
  readonly seed: Buffer;
  readonly encrypted: Buffer;
}

/** The label of a seed, its final zero written out where the algorithm does not add it. */
export const IDENTITY = "IDENTITY";

function rsaSeed(ek: KeyObject, hash: TpmHash): Seed {
  const seed = randomBytes(hashSize(hash));
  const oaepLabel = Buffer.from(`${IDENTITY}\0`);
  const padding = constants.RSA_PKCS1_OAEP_PADDING;
  return { seed, encrypted: publicEncrypt({ key: ek, padding, oaepHash: hash, oaepLabel }, seed) };
}

function eccSeed(ek: KeyObject, hash: TpmHash, curve: TpmCurve): Seed {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: curve });
  const [own, peer] = [pointOf(publicKey), pointOf(ek)];
  const z = diffieHellman({
    privateKey,
    publicKey: createPublicKey(ek.export({ format: "pem", type: "spki" })),
  });
  const seed = kdfE({ hash, z, label: IDENTITY, partyU: own.x, partyV: peer.x, bits: hashSize(hash) * 8 });
  return { seed, encrypted: Buffer.concat([sized(own.x), sized(own.y)]) };

  function pointOf(key: KeyObject): { x: Buffer; y: Buffer } {
    const { x = "", y = "" } = key.export({ format: "jwk" });
    const point = { x: Buffer.from(x, "base64url"), y: Buffer.from(y, "base64url") };
    if (point.x.length !== curveSize(curve)) throw new TpmError("unsupported", "a point of another size");
    return point;
  }
}

interface KdfA {
  readonly hash: TpmHash;
  readonly key: Buffer;
  readonly label: string;
  readonly contextU?: Buffer;
  readonly bits: number;
}

/** SP 800-108 in counter mode, over HMAC (TPM 2.0 Part 1 §11.4.10). */
function kdfA({ hash, key, label, contextU = Buffer.alloc(0), bits }: KdfA): Buffer {
  return counted(hash, bits, (counter) =>
    createHmac(hash, key).update(counter).update(`${label}\0`).update(contextU).update(u32(bits)).digest(),
  );
}

export interface KdfE {
  readonly hash: TpmHash;
  /** The x coordinate of the shared point, as wide as the field. */
  readonly z: Buffer;
  readonly label: string;
  /** x of the ephemeral key, and of the static one. */
  readonly partyU: Buffer;
  readonly partyV: Buffer;
  readonly bits: number;
}

/** SP 800-56A's concatenation (TPM 2.0 Part 1 §11.4.10). */
export function kdfE({ hash, z, label, partyU, partyV, bits }: KdfE): Buffer {
  return counted(hash, bits, (counter) =>
    createHash(hash).update(counter).update(z).update(`${label}\0`).update(partyU).update(partyV).digest(),
  );
}

function counted(hash: TpmHash, bits: number, block: (counter: Buffer) => Buffer): Buffer {
  const size = bits / 8;
  const count = Math.ceil(size / hashSize(hash));
  return Buffer.concat(Array.from({ length: count }, (_, index) => block(u32(index + 1)))).subarray(0, size);
}
