/**
 * Wraps master keys with an AES key in a PKCS#11 token: what is kept is useless without the token. The token is asked at the start and
 * at a rotation only.
 */
import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { ownershipFault } from "@signet/protocol/secret-file-rules";
import { isWrapped, type KeyWrapping } from "./stored-key.ts";

/** Where the wrapping key is: a PKCS #11 URI (RFC 7512) without the PIN itself. */
export interface Pkcs11Location {
  readonly module: string;
  /** CKA_LABEL of the token and of the AES key. */
  readonly token: string;
  readonly object: string;
  readonly pinFile: string;
}

type Handle = Buffer;
type Attribute = { readonly type: number; readonly value: number | string };
interface GcmMechanism {
  readonly mechanism: number;
  readonly parameter: { type: number; iv: Buffer; aad: Buffer; ivBits: number; tagBits: number };
}

/** The calls of PKCS #11 2.40 in use, by the names of pkcs11js. */
export interface Pkcs11Calls {
  load(path: string): void;
  C_Initialize(options: { readonly flags: number }): void;
  C_GetSlotList(tokenPresent: boolean): Handle[];
  C_GetTokenInfo(slot: Handle): { readonly label: string };
  C_OpenSession(slot: Handle, flags: number): Handle;
  C_CloseSession(session: Handle): void;
  C_Login(session: Handle, userType: number, pin: string): void;
  C_FindObjectsInit(session: Handle, template: Attribute[]): void;
  C_FindObjects(session: Handle, max: number): Handle[];
  C_FindObjectsFinal(session: Handle): void;
  C_EncryptInit(session: Handle, mechanism: GcmMechanism, key: Handle): void;
  C_Encrypt(session: Handle, data: Buffer, out: Buffer): Buffer;
  C_DecryptInit(session: Handle, mechanism: GcmMechanism, key: Handle): void;
  C_Decrypt(session: Handle, data: Buffer, out: Buffer): Buffer;
}

const CKF_OS_LOCKING_OK = 2;
const CKF_SERIAL_SESSION = 4;
const CKU_USER = 1;
const CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191;
const CKR_USER_ALREADY_LOGGED_IN = 0x100;
const CKA_CLASS = 0;
const CKA_LABEL = 3;
const CKO_SECRET_KEY = 4;
const CKM_AES_GCM = 0x1087;
/** pkcs11js's number for this type of parameter. */
const CK_PARAMS_AES_GCM_V240 = 7;
const IV_BYTES = 12;
const AAD = Buffer.from("signet master key v1");
const MAX_OUT = 256;

/** Each library is loaded once and stays: SoftHSM 2.6.1, for one, crashes the process when it is loaded again. */
const opened = new Map<string, Promise<Pkcs11Calls>>();

/** @throws Error with a sentence that names the library, the token, the key or the file */
export async function openPkcs11Wrapping(
  location: Pkcs11Location,
  load: (path: string) => Promise<Pkcs11Calls> = loadOnce,
): Promise<KeyWrapping> {
  const pin = await readPin(location.pinFile);
  const calls = await load(location.module);
  try {
    return wrapping(calls, location, pin);
  } catch (error) {
    throw new Error(`SIGNET_MASTER_KEY_PKCS11: token ${location.token}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

const mechanism = (iv: Buffer): GcmMechanism => ({
  mechanism: CKM_AES_GCM,
  parameter: { type: CK_PARAMS_AES_GCM_V240, iv, aad: AAD, ivBits: 8 * IV_BYTES, tagBits: 128 },
});

function wrapping(calls: Pkcs11Calls, location: Pkcs11Location, pin: string): KeyWrapping {
  let { session, key } = openSession(calls, location, pin);
  /** In another session if need be: a server runs for months until a key is replaced, and its HSM may have been away meanwhile. */
  const again = <T>(work: () => T): T => {
    try {
      return work();
    } catch {
      ignoreFailure(() => calls.C_CloseSession(session));
      ({ session, key } = openSession(calls, location, pin));
      return work();
    }
  };
  return {
    wrap: (plain) =>
      again(() => {
        const iv = randomBytes(IV_BYTES);
        calls.C_EncryptInit(session, mechanism(iv), key);
        return Buffer.concat([iv, calls.C_Encrypt(session, plain, Buffer.alloc(MAX_OUT))]);
      }),
    unwrap: (stored) => {
      if (!isWrapped(stored)) return stored;
      try {
        return again(() => {
          calls.C_DecryptInit(session, mechanism(stored.subarray(0, IV_BYTES)), key);
          return Buffer.from(calls.C_Decrypt(session, stored.subarray(IV_BYTES), Buffer.alloc(MAX_OUT)));
        });
      } catch (error) {
        const { object, token } = location;
        throw new Error(`the key ${object} of token ${token} does not unwrap the master key`, {
          cause: error,
        });
      }
    },
  };
}

/** @throws when the token or its key is not there */
function openSession(calls: Pkcs11Calls, { token, object }: Pkcs11Location, pin: string) {
  const slot = calls.C_GetSlotList(true).find((one) => calls.C_GetTokenInfo(one).label.trimEnd() === token);
  if (!slot) throw new Error("there is no such token");
  const session = calls.C_OpenSession(slot, CKF_SERIAL_SESSION);
  attempt(() => calls.C_Login(session, CKU_USER, pin), CKR_USER_ALREADY_LOGGED_IN);
  calls.C_FindObjectsInit(session, [
    { type: CKA_CLASS, value: CKO_SECRET_KEY },
    { type: CKA_LABEL, value: object },
  ]);
  const [key, another] = calls.C_FindObjects(session, 2);
  calls.C_FindObjectsFinal(session);
  if (!key || another)
    throw new Error(`it has ${key ? "more than one" : "no"} secret key labelled ${object}`);
  return { session, key };
}

async function readPin(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new Error(`SIGNET_MASTER_KEY_PKCS11: there is no file ${path} (pin-source)`);
  if ((found.mode & 0o077) !== 0)
    throw new Error(`${path} is readable by others: run chmod 600 on it, and change the PIN`);
  const fault = ownershipFault(path, found, process.geteuid?.());
  if (fault !== undefined) throw new Error(fault);
  return (await readFile(path, "utf8")).trim();
}

function loadOnce(path: string): Promise<Pkcs11Calls> {
  const library = opened.get(path) ?? loadLibrary(path);
  opened.set(path, library);
  return library;
}

async function loadLibrary(path: string): Promise<Pkcs11Calls> {
  // Not a literal: the compiler must not require a package that may be missing.
  const name: string = "pkcs11js";
  const { default: pkcs11js } = (await import(name).catch((cause: unknown) => {
    throw new Error(
      "SIGNET_MASTER_KEY_PKCS11 needs the package pkcs11js, which is not installed beside Signet: npm install pkcs11js@2.1.7, which compiles it with python3, make and g++",
      { cause },
    );
  })) as { default: { PKCS11: new () => Pkcs11Calls } };
  const calls = new pkcs11js.PKCS11();
  try {
    calls.load(path);
    attempt(() => calls.C_Initialize({ flags: CKF_OS_LOCKING_OK }), CKR_CRYPTOKI_ALREADY_INITIALIZED);
    return calls;
  } catch (cause) {
    throw new Error(`SIGNET_MASTER_KEY_PKCS11: the library ${path} cannot be used`, { cause });
  }
}

function attempt(act: () => void, passed: number): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === passed)) throw error;
  }
}

function ignoreFailure(act: () => void): void {
  try {
    act();
  } catch {
    // It was closed already.
  }
}
