/** Opens the keys of a configuration. */
import type { KeyConfiguration } from "../configuration/configuration.ts";
import { readChain } from "./certificate-chain.ts";
import { type AgentKey, agentKey, InvalidKey, type KeySource } from "./key-source.ts";
import { openModuleKey } from "./module-key.ts";
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
