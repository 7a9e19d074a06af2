/** A private key that never leaves its PKCS#11 token: hardware or SoftHSM. */
import { createPublicKey, hash, type webcrypto } from "node:crypto";
import { readSecretFile } from "@signet/cli-runtime/private-file";
import { describeError } from "@signet/cli-runtime/redact";
import { type AgentAlg, agentAlgorithms } from "@signet/protocol/agent-signature";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import { type KeyConfiguration, NO_ML_DSA_TOKEN } from "../configuration/configuration.ts";
import { chooseAlg, InvalidKey, type KeySource } from "./key-source.ts";
import { type Handle, type Mechanism, openLibrary, type Pkcs11 } from "./pkcs11-library.ts";

/** `pinFile` has mode 0600; `key` is the CKA_LABEL of both halves; `sessions` is the number of concurrent signatures. */
type Pkcs11Location = NonNullable<KeyConfiguration["pkcs11"]>;

const CKO_PUBLIC_KEY = 2;
const CKO_PRIVATE_KEY = 3;
const CKA_CLASS = 0;
const CKA_LABEL = 3;
const CKF_SERIAL_SESSION = 4;
const CKU_USER = 1;
const CKR_USER_ALREADY_LOGGED_IN = 0x100;
const MAX_SIGNATURE_BYTES = 1024;
const DEFAULT_SESSIONS = 4;

/** @throws InvalidKey for a missing token or key, or a wrong PIN; UnsafeFile */
export async function openPkcs11Key(
  location: Pkcs11Location,
  alg?: string,
  load: typeof openLibrary = openLibrary,
): Promise<KeySource> {
  const pin = await readSecretFile(location.pinFile);
  const calls = await load(location.library);
  try {
    return openKey(calls, location, pin, alg);
  } catch (error) {
    if (error instanceof InvalidKey) throw error;
    throw new InvalidKey(`token ${location.token}: ${describeError(error)}`, { cause: error });
  }
}

function openKey(calls: Pkcs11, location: Pkcs11Location, pin: string, configuredAlg?: string): KeySource {
  const slot = findSlot(calls, location.token);
  const open = () => calls.C_OpenSession(slot, CKF_SERIAL_SESSION);
  const first = open();
  login(calls, first, pin);
  const privateKey = findKey(calls, first, CKO_PRIVATE_KEY, location);
  const publicJwk = pkcs11PublicJwk(calls, first, findKey(calls, first, CKO_PUBLIC_KEY, location));
  const name = `key ${location.key} of token ${location.token}`;
  const alg = chooseAlg(createPublicKey({ key: publicJwk, format: "jwk" }), configuredAlg, name);
  const sessions = [first, ...Array.from({ length: (location.sessions ?? DEFAULT_SESSIONS) - 1 }, open)];
  const withSession = sessionPool(sessions);
  return {
    publicJwk: publicJwk as PublicKeyMembers,
    alg,
    sign: (bytes) =>
      withSession(async (session) => {
        const { mechanism, data } = chooseMechanism(alg, bytes);
        calls.C_SignInit(session, mechanism, privateKey);
        return await calls.C_SignAsync(session, data, Buffer.alloc(MAX_SIGNATURE_BYTES));
      }),
    close: async () => {
      for (const session of sessions) calls.C_CloseSession(session);
    },
  };
}

function findSlot(calls: Pkcs11, label: string): Handle {
  const slot = calls.C_GetSlotList(true).find((one) => calls.C_GetTokenInfo(one).label.trimEnd() === label);
  if (!slot) throw new InvalidKey(`no token has the label ${label}`);
  return slot;
}

/** One login counts for all sessions of the process. */
function login(calls: Pkcs11, session: Handle, pin: string): void {
  try {
    calls.C_Login(session, CKU_USER, pin);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === CKR_USER_ALREADY_LOGGED_IN))
      throw error;
  }
}

/** Two keys with one label are refused: it would be unclear which one signs. */
function findKey(calls: Pkcs11, session: Handle, kind: number, { key, token }: Pkcs11Location): Handle {
  calls.C_FindObjectsInit(session, [
    { type: CKA_CLASS, value: kind },
    { type: CKA_LABEL, value: key },
  ]);
  const [handle, another] = calls.C_FindObjects(session, 2);
  calls.C_FindObjectsFinal(session);
  const half = kind === CKO_PRIVATE_KEY ? "private" : "public";
  if (!handle) throw new InvalidKey(`token ${token} has no ${half} key with the label ${key}`);
  if (another) throw new InvalidKey(`token ${token} has more than one ${half} key with the label ${key}`);
  return handle;
}

const CKM_ECDSA = 0x1041;
const CKM_EDDSA = 0x1057;
const CKM_SHA256_RSA_PKCS = 0x40;
const CKM_SHA256_RSA_PKCS_PSS = 0x43;
const CKM_SHA256 = 0x250;
const CKG_MGF1_SHA256 = 2;
/** pkcs11js's number for this type of parameter. */
const CK_PARAMS_RSA_PSS = 5;
const SHA256_BYTES = 32;

/** Every token has ECDSA over a given digest; it returns r and s concatenated, as JWS needs them. */
function chooseMechanism(alg: AgentAlg, bytes: Uint8Array): { mechanism: Mechanism; data: Buffer } {
  const data = Buffer.from(bytes);
  if (alg === "EdDSA") return { mechanism: { mechanism: CKM_EDDSA }, data };
  if (alg === "RS256") return { mechanism: { mechanism: CKM_SHA256_RSA_PKCS }, data };
  if (alg === "PS256") {
    const pss = { type: CK_PARAMS_RSA_PSS, hashAlg: CKM_SHA256, mgf: CKG_MGF1_SHA256 };
    const parameter = { ...pss, saltLen: SHA256_BYTES };
    return { mechanism: { mechanism: CKM_SHA256_RSA_PKCS_PSS, parameter }, data };
  }
  const digest = agentAlgorithms[alg].digest ?? "sha256";
  return { mechanism: { mechanism: CKM_ECDSA }, data: hash(digest, data, "buffer") };
}

/** A session makes one signature at a time. */
function sessionPool(sessions: readonly Handle[]) {
  const free = [...sessions];
  const waiting: Array<(session: Handle) => void> = [];
  return async <Result>(use: (session: Handle) => Promise<Result>): Promise<Result> => {
    const session = free.pop() ?? (await new Promise<Handle>((resolve) => waiting.push(resolve)));
    try {
      return await use(session);
    } finally {
      const next = waiting.shift();
      if (next) next(session);
      else free.push(session);
    }
  };
}

const CKA_KEY_TYPE = 0x100;
const CKA_MODULUS = 0x120;
const CKA_PUBLIC_EXPONENT = 0x122;
const CKA_EC_PARAMS = 0x180;
const CKA_EC_POINT = 0x181;
const CKK_RSA = 0;
const CKK_EC = 3;
const CKK_EC_EDWARDS = 0x40;
/** PKCS #11 3.2 §6.67. */
const CKK_ML_DSA = 0x4a;

/** `bytes`: the length of one coordinate. */
type Curve = { readonly crv: string; readonly kty: "EC" | "OKP"; readonly bytes: number };

// DER object identifiers (RFC 5480 §2.1.1.1, RFC 8410 §3); PKCS #11 3.0 §2.3.5 also allows Ed25519 by name.
const curves: ReadonlyMap<string, Curve> = new Map([
  ["06082a8648ce3d030107", { crv: "P-256", kty: "EC", bytes: 32 }],
  ["06052b81040022", { crv: "P-384", kty: "EC", bytes: 48 }],
  ["06032b6570", { crv: "Ed25519", kty: "OKP", bytes: 32 }],
  ["130c656477617264733235353139", { crv: "Ed25519", kty: "OKP", bytes: 32 }],
]);

/** @throws InvalidKey for a type of key that cannot sign tokens */
function pkcs11PublicJwk(calls: Pkcs11, session: Handle, key: Handle): webcrypto.JsonWebKey {
  const read = (...types: number[]) => {
    const template = types.map((type) => ({ type }));
    return calls.C_GetAttributeValue(session, key, template);
  };
  const kind = read(CKA_KEY_TYPE)[0]?.value.readUIntLE(0, 4);
  if (kind === CKK_RSA) {
    const [n, e] = read(CKA_MODULUS, CKA_PUBLIC_EXPONENT).map(({ value }) => unsigned(value));
    return { kty: "RSA", n: n ?? "", e: e ?? "" };
  }
  if (kind === CKK_ML_DSA) throw new InvalidKey(NO_ML_DSA_TOKEN);
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
