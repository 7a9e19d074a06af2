/** A key behind the operator's own module: a cloud's key service, or anything else that signs (docs/signing-agent.md). */
import { pathToFileURL } from "node:url";
import { InvalidKey, type KeySource } from "./key-source.ts";

/**
 * @param path of an ECMAScript module that exports `openKey(options)`, which returns a `KeySource`
 * @throws InvalidKey otherwise
 */
export async function openModuleKey(
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
