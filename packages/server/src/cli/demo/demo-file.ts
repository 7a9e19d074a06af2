/** `demo.json`: the demo's IDs and credentials for tests and examples. Mode 0600, replaced atomically. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { issuerOf } from "../../core/organisations/organisation.ts";

export interface DemoUser {
  readonly email: string;
  readonly password: string;
}

export interface ServiceApp {
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface DemoAccount {
  readonly id: string;
  readonly applicationId: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

/** For the programs in `examples/`. `address`: where each listens, as in its redirect URIs. */
export interface DemoExamples {
  readonly webApp: ServiceApp & { readonly address: string };
  readonly legacyApp: { readonly clientId: string; readonly address: string };
  /** The single-page application, and the audience of the API behind it. */
  readonly notesApp: { readonly clientId: string; readonly address: string; readonly audience: string };
  readonly worker: ServiceApp;
  /** Offered to every organisation. */
  readonly saas: ServiceApp & { readonly address: string };
  /** A client whose tokens only the agents of this pool sign. */
  readonly sovereign: ServiceApp & { readonly poolId: string; readonly address: string };
}

/** `demo.json` as tests and examples read it. */
export interface DemoFile {
  readonly baseUrl: string;
  readonly org: string;
  readonly issuer: string;
  readonly admin: DemoUser;
  readonly user: DemoUser;
  readonly webApp: ServiceApp & {
    readonly redirectUris: readonly string[];
    readonly returnUrls: readonly string[];
  };
  readonly nativeApp: { readonly clientId: string; readonly redirectUris: readonly string[] };
  readonly spaApp: { readonly clientId: string; readonly redirectUris: readonly string[] };
  readonly serviceApp: ServiceApp;
  /** Of the web application. */
  readonly systemAccount: DemoAccount;
  /** For the management API. */
  readonly administratorAccount: DemoAccount;
  readonly examples: DemoExamples;
  readonly otherOrg: {
    readonly org: string;
    readonly issuer: string;
    readonly admin: DemoUser;
    readonly serviceApp: ServiceApp;
    readonly administratorAccount: DemoAccount;
  };
}

/** The same demo under another base address. */
export function atAddress(file: DemoFile, baseUrl: string): DemoFile {
  const otherOrg = { ...file.otherOrg, issuer: issuerOf(baseUrl, file.otherOrg.org) };
  return { ...file, baseUrl, issuer: issuerOf(baseUrl, file.org), otherOrg };
}

export async function readDemoFile(path: string): Promise<DemoFile | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as DemoFile;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export async function writeDemoFile(path: string, file: DemoFile): Promise<void> {
  const half = `${path}.${process.pid}`;
  await writeFile(half, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  await rename(half, path);
}
