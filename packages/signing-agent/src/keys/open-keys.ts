/** Opens the keys of a configuration. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { jwkThumbprint } from "@signet/protocol/jose/jwk";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import type { KeyConfiguration } from "../configuration/configuration.ts";
import { type AgentKey, agentKey, InvalidKey, type KeySource } from "./key-source.ts";
import { openPemKey } from "./pem-key.ts";
import { openPkcs11Key } from "./pkcs11-key.ts";

/** In the order of the configuration, which is the order of preference. @throws InvalidKey, UnsafeFile */
export async function openKeys(configured: readonly KeyConfiguration[]): Promise<AgentKey[]> {
  const opened: AgentKey[] = [];
  try {
    for (const one of configured) {
      const key = await openKey(one);
      if (opened.some(({ kid }) => kid === key.kid))
        throw new InvalidKey(`${key.location} is configured twice`);
      opened.push(key);
    }
    return opened;
  } catch (error) {
    await closeKeys(opened);
    throw error;
  }
}

export async function closeKeys(keys: readonly AgentKey[]): Promise<void> {
  for (const key of keys) await key.close();
}

async function openKey(configured: KeyConfiguration): Promise<AgentKey> {
  const source = await openSource(configured);
  try {
    const { chain } = configured;
    const x5c = chain === undefined ? undefined : await readChain(chain, source.publicJwk);
    return agentKey(source, describeLocation(configured), x5c);
  } catch (error) {
    await source.close?.();
    throw error;
  }
}

function openSource({ file, pkcs11, module, alg }: KeyConfiguration): Promise<KeySource> {
  if (file !== undefined) return openPemKey(file, alg);
  if (pkcs11) return openPkcs11Key(pkcs11, alg);
  if (module) return openModuleKey(module.path, module.options);
  throw new InvalidKey("a key needs file, pkcs11 or module");
}

function describeLocation({ file, pkcs11, module }: KeyConfiguration): string {
  return file ?? (pkcs11 ? `token ${pkcs11.token}, key ${pkcs11.key}` : `module ${module?.path}`);
}

const MAX_CERTIFICATES = 4;
const pem = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * @returns base64 DER, leaf first
 * @throws InvalidKey unless there are one to four certificates, the first of them the key's own
 */
async function readChain(path: string, publicJwk: PublicKeyMembers): Promise<string[]> {
  const blocks = (await readFile(path, "utf8")).match(pem) ?? [];
  if (blocks.length === 0 || blocks.length > MAX_CERTIFICATES)
    throw new InvalidKey(
      `${path} must hold 1 to ${MAX_CERTIFICATES} certificates in PEM, the key's own first`,
    );
  const certificates = blocks.map((text) => parseCertificate(text, path));
  const leaf = certificates[0]?.publicKey.export({ format: "jwk" }) as PublicKeyMembers;
  if (jwkThumbprint(leaf) !== jwkThumbprint(publicJwk))
    throw new InvalidKey(`the first certificate of ${path} is for another key`);
  return certificates.map(({ raw }) => raw.toString("base64"));
}

function parseCertificate(text: string, path: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new InvalidKey(`${path} holds an invalid certificate`, { cause: error });
  }
}

/**
 * @param path of an ECMAScript module that exports `openKey(options)`, which returns a `KeySource`
 * @throws InvalidKey otherwise
 */
async function openModuleKey(
  path: string,
  options: Readonly<Record<string, unknown>> = {},
): Promise<KeySource> {
  const loaded: Record<string, unknown> = await import(pathToFileURL(path).href);
  const openKey = loaded["openKey"];
  if (typeof openKey !== "function") throw new InvalidKey(`${path} does not export a function openKey`);
  const source: unknown = await openKey(options);
  if (!isKeySource(source))
    throw new InvalidKey(
      `${path}: openKey must return { publicJwk, alg, sign(bytes) }, see docs/signing-agent.md`,
    );
  return source;
}

function isKeySource(value: unknown): value is KeySource {
  if (typeof value !== "object" || value === null) return false;
  const { publicJwk, alg, sign } = value as Record<string, unknown>;
  return (
    typeof publicJwk === "object" &&
    publicJwk !== null &&
    typeof alg === "string" &&
    typeof sign === "function"
  );
}
