/** A private key that never leaves its token: hardware, or SoftHSM, behind PKCS#11. */
import { createPublicKey, hash } from "node:crypto";
import { type AgentAlg, agentAlgorithms } from "@signet/protocol/agent-signature";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import { readSecretFile } from "../private-file.ts";
import { algOfKey, InvalidKey, type KeySource } from "./key-source.ts";
import { type Handle, type Mechanism, openLibrary, type Pkcs11, reasonOf } from "./pkcs11-library.ts";
import { pkcs11PublicJwk } from "./pkcs11-public-key.ts";

export interface Pkcs11Place {
  /** The vendor's shared library. */
  readonly library: string;
  /** The token's label. */
  readonly token: string;
  /** A file of mode 0600 with the user PIN. */
  readonly pinFile: string;
  /** The key's label (CKA_LABEL); both halves carry it. */
  readonly key: string;
  /** Sessions that sign at once. */
  readonly sessions?: number;
}

const CKO_PUBLIC_KEY = 2;
const CKO_PRIVATE_KEY = 3;
const CKA_CLASS = 0;
const CKA_LABEL = 3;
const CKF_SERIAL_SESSION = 4;
const CKU_USER = 1;
const CKR_USER_ALREADY_LOGGED_IN = 0x100;
const LONGEST_SIGNATURE = 1024;
const USUAL_SESSIONS = 4;

/** @throws InvalidKey when the token, the PIN or the key is not there; UnsafeFile for a PIN that others may read */
export async function openPkcs11Key(
  place: Pkcs11Place,
  alg?: string,
  load: typeof openLibrary = openLibrary,
): Promise<KeySource> {
  const pin = await readSecretFile(place.pinFile);
  const calls = await load(place.library);
  try {
    return openKey(calls, place, pin, alg);
  } catch (error) {
    if (error instanceof InvalidKey) throw error;
    throw new InvalidKey(`token ${place.token}: ${reasonOf(error)}`, { cause: error });
  }
}

function openKey(calls: Pkcs11, place: Pkcs11Place, pin: string, wantedAlg: string | undefined): KeySource {
  const slot = slotOf(calls, place.token);
  const open = () => calls.C_OpenSession(slot, CKF_SERIAL_SESSION);
  const first = open();
  login(calls, first, pin);
  const privateKey = findKey(calls, first, CKO_PRIVATE_KEY, place);
  const publicJwk = pkcs11PublicJwk(calls, first, findKey(calls, first, CKO_PUBLIC_KEY, place));
  const name = `key ${place.key} of token ${place.token}`;
  const alg = algOfKey(createPublicKey({ key: publicJwk, format: "jwk" }), wantedAlg, name);
  const sessions = [first, ...Array.from({ length: (place.sessions ?? USUAL_SESSIONS) - 1 }, open)];
  const free = sessionPool(sessions);
  return {
    publicJwk: publicJwk as PublicKeyMembers,
    alg,
    sign: (bytes) =>
      free(async (session) => {
        const { mechanism, data } = mechanismOf(alg, bytes);
        calls.C_SignInit(session, mechanism, privateKey);
        return await calls.C_SignAsync(session, data, Buffer.alloc(LONGEST_SIGNATURE));
      }),
    close: async () => {
      for (const session of sessions) calls.C_CloseSession(session);
    },
  };
}

function slotOf(calls: Pkcs11, label: string): Handle {
  const slot = calls.C_GetSlotList(true).find((one) => calls.C_GetTokenInfo(one).label.trimEnd() === label);
  if (!slot) throw new InvalidKey(`there is no token with the label ${label}`);
  return slot;
}

/** A token is logged in to once for all sessions of the process. */
function login(calls: Pkcs11, session: Handle, pin: string): void {
  try {
    calls.C_Login(session, CKU_USER, pin);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === CKR_USER_ALREADY_LOGGED_IN))
      throw error;
  }
}

/** Exactly one: with two keys of one label nobody knows which one signs. */
function findKey(calls: Pkcs11, session: Handle, kind: number, { key, token }: Pkcs11Place): Handle {
  calls.C_FindObjectsInit(session, [
    { type: CKA_CLASS, value: kind },
    { type: CKA_LABEL, value: key },
  ]);
  const [found, another] = calls.C_FindObjects(session, 2);
  calls.C_FindObjectsFinal(session);
  const half = kind === CKO_PRIVATE_KEY ? "private" : "public";
  if (!found) throw new InvalidKey(`token ${token} has no ${half} key with the label ${key}`);
  if (another) throw new InvalidKey(`token ${token} has more than one ${half} key with the label ${key}`);
  return found;
}

const CKM_ECDSA = 0x1041;
const CKM_EDDSA = 0x1057;
const CKM_SHA256_RSA_PKCS = 0x40;
const CKM_SHA256_RSA_PKCS_PSS = 0x43;
const CKM_SHA256 = 0x250;
const CKG_MGF1_SHA256 = 2;
/** pkcs11js's own name for the kind of parameter. */
const CK_PARAMS_RSA_PSS = 5;
const SHA256_BYTES = 32;

/** ECDSA without a digest of its own is what every token has; it answers r and s side by side, as JWS wants them. */
function mechanismOf(alg: AgentAlg, bytes: Uint8Array): { mechanism: Mechanism; data: Buffer } {
  const data = Buffer.from(bytes);
  if (alg === "EdDSA") return { mechanism: { mechanism: CKM_EDDSA }, data };
  if (alg === "RS256") return { mechanism: { mechanism: CKM_SHA256_RSA_PKCS }, data };
  if (alg === "PS256") {
    const parameter = {
      type: CK_PARAMS_RSA_PSS,
      hashAlg: CKM_SHA256,
      mgf: CKG_MGF1_SHA256,
      saltLen: SHA256_BYTES,
    };
    return { mechanism: { mechanism: CKM_SHA256_RSA_PKCS_PSS, parameter }, data };
  }
  const digest = agentAlgorithms[alg].digest ?? "sha256";
  return { mechanism: { mechanism: CKM_ECDSA }, data: hash(digest, data, "buffer") };
}

/** A session signs one thing at a time: who finds none free waits for the next. */
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
