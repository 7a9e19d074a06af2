/** All keys of a configuration, each opened where it is. */
import type { KeyPlace } from "../configuration.ts";
import { readChain } from "./certificate-chain.ts";
import { type AgentKey, agentKey, InvalidKey, type KeySource } from "./key-source.ts";
import { openModuleKey } from "./module-key.ts";
import { openPemKey } from "./pem-key.ts";
import { openPkcs11Key } from "./pkcs11-key.ts";

/** In the order of the configuration, which is the order of preference. @throws InvalidKey, UnsafeFile */
export async function openKeys(places: readonly KeyPlace[]): Promise<AgentKey[]> {
  const opened: AgentKey[] = [];
  try {
    for (const place of places) {
      const key = await openKey(place);
      if (opened.some(({ kid }) => kid === key.kid))
        throw new InvalidKey(`${key.place} is the same key as another one`);
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

async function openKey(place: KeyPlace): Promise<AgentKey> {
  const source = await openSource(place);
  try {
    const x5c = place.chain === undefined ? undefined : await readChain(place.chain, source.publicJwk);
    return agentKey(source, nameOf(place), x5c);
  } catch (error) {
    await source.close?.();
    throw error;
  }
}

function openSource({ file, pkcs11, module, alg }: KeyPlace): Promise<KeySource> {
  if (file !== undefined) return openPemKey(file, alg);
  if (pkcs11) return openPkcs11Key(pkcs11, alg);
  if (module) return openModuleKey(module.path, module.options);
  throw new InvalidKey("a key needs a file, pkcs11 or a module");
}

function nameOf({ file, pkcs11, module }: KeyPlace): string {
  return file ?? (pkcs11 ? `token ${pkcs11.token}, key ${pkcs11.key}` : `module ${module?.path}`);
}
