/** pkcs11js, an optional peer that compiles at install: only who has keys in PKCS#11 installs it (sovereign-signing.md §9). */
import { InvalidKey } from "./key-source.ts";

export type Handle = Buffer;

export interface Mechanism {
  readonly mechanism: number;
  readonly parameter?: {
    readonly type: number;
    readonly hashAlg: number;
    readonly mgf: number;
    readonly saltLen: number;
  };
}

type Attribute = { readonly type: number; readonly value?: number | string | Buffer };

/** The calls of PKCS #11 2.40 in use, by the names of pkcs11js. */
export interface Pkcs11 {
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
  C_GetAttributeValue(session: Handle, object: Handle, template: Attribute[]): Array<{ value: Buffer }>;
  C_SignInit(session: Handle, mechanism: Mechanism, key: Handle): void;
  C_SignAsync(session: Handle, data: Buffer, out: Buffer): Promise<Buffer>;
}

const CKF_OS_LOCKING_OK = 2;
/** By another path to the same library, or by another module of this process. */
const CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191;
/** Each library is loaded once and stays: SoftHSM 2.6.1, for one, crashes the process when it is unloaded and loaded again. */
const loaded = new Map<string, Promise<Pkcs11>>();

/** @throws InvalidKey when pkcs11js is not installed or the library cannot be loaded */
export function openLibrary(path: string): Promise<Pkcs11> {
  const library = loaded.get(path) ?? loadLibrary(path);
  loaded.set(path, library);
  return library;
}

async function loadLibrary(path: string): Promise<Pkcs11> {
  const calls = await loadPkcs11js();
  try {
    calls.load(path);
    initialize(calls);
    return calls;
  } catch (error) {
    throw new InvalidKey(`the PKCS#11 library ${path} cannot be used`, { cause: error });
  }
}

function initialize(calls: Pkcs11): void {
  try {
    calls.C_Initialize({ flags: CKF_OS_LOCKING_OK });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== CKR_CRYPTOKI_ALREADY_INITIALIZED) throw error;
  }
}

async function loadPkcs11js(): Promise<Pkcs11> {
  // Not a literal: the compiler must not require a package that may be missing.
  const name: string = "pkcs11js";
  try {
    const { default: pkcs11js } = (await import(name)) as { default: { PKCS11: new () => Pkcs11 } };
    return new pkcs11js.PKCS11();
  } catch (error) {
    const problem = "PKCS#11 keys need the package pkcs11js, which is not installed beside the agent";
    const hint = "npm install --global pkcs11js@2.1.7, which compiles it with python3, make and g++";
    throw new InvalidKey(`${problem}: ${hint}`, { cause: error });
  }
}
