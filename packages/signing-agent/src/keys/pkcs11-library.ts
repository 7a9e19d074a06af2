/**
 * The part of pkcs11js that is used, loaded only when a key asks for it: it is an optional dependency that compiles at
 * install (sovereign-signing.md §9).
 */
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

interface Attribute {
  readonly type: number;
  readonly value?: number | string | Buffer;
}

/** The calls of PKCS #11 2.40 that are made, as pkcs11js names them. */
export interface Pkcs11 {
  load(path: string): void;
  C_Initialize(options: { readonly flags: number }): void;
  C_GetSlotList(tokenPresent: boolean): Handle[];
  C_GetTokenInfo(slot: Handle): { readonly label: string };
  C_OpenSession(slot: Handle, flags: number): Handle;
  C_CloseSession(session: Handle): void;
  C_Login(session: Handle, userType: number, pin: string): void;
  C_FindObjectsInit(session: Handle, template: Attribute[]): void;
  C_FindObjects(session: Handle, most: number): Handle[];
  C_FindObjectsFinal(session: Handle): void;
  C_GetAttributeValue(
    session: Handle,
    object: Handle,
    template: Attribute[],
  ): Array<{ readonly value: Buffer }>;
  C_SignInit(session: Handle, mechanism: Mechanism, key: Handle): void;
  C_SignAsync(session: Handle, data: Buffer, out: Buffer): Promise<Buffer>;
}

const CKF_OS_LOCKING_OK = 2;
/**
 * A library is initialised once in a process, however many keys it holds, and stays until the process ends: libraries
 * that are unloaded and loaded again are known to bring it down (SoftHSM 2.6.1 does).
 */
const loaded = new Map<string, Promise<Pkcs11>>();

/** @throws InvalidKey when pkcs11js is not installed or the library cannot be loaded */
export function openLibrary(path: string): Promise<Pkcs11> {
  const library = loaded.get(path) ?? loadLibrary(path);
  loaded.set(path, library);
  return library;
}

async function loadLibrary(path: string): Promise<Pkcs11> {
  const calls = await newPkcs11();
  try {
    calls.load(path);
    calls.C_Initialize({ flags: CKF_OS_LOCKING_OK });
    return calls;
  } catch (error) {
    throw new InvalidKey(`the PKCS#11 library ${path} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

async function newPkcs11(): Promise<Pkcs11> {
  // The name is no literal, so that the compiler does not want a package that may be missing.
  const name: string = "pkcs11js";
  try {
    const { default: pkcs11js } = (await import(name)) as { default: { PKCS11: new () => Pkcs11 } };
    return new pkcs11js.PKCS11();
  } catch (error) {
    const what = "keys behind PKCS#11 need the package pkcs11js, which is not installed or did not compile";
    throw new InvalidKey(`${what} (npm install pkcs11js; python3, make and g++ must be there)`, {
      cause: error,
    });
  }
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
