/** Parses the registration an agent prints and an administrator pastes into a form. */
import type { PresentedKey } from "./agent-keys.ts";

export interface Registration {
  readonly poolId?: string;
  readonly name?: string;
  readonly keys: readonly PresentedKey[];
}

/** A dozen keys with certificates. */
export const MAX_CHARACTERS = 48_000;

/** @returns undefined for anything else; agent-keys.ts validates the keys */
export function readRegistration(text: string): Registration | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const listed = isRecord(value) && "keys" in value ? value["keys"] : value;
  const keys: unknown[] = Array.isArray(listed) ? listed : [listed];
  if (keys.length === 0 || !keys.every(isPresentedKey)) return undefined;
  const { poolId, name } = isRecord(value) ? value : {};
  return {
    keys,
    ...(typeof poolId === "string" ? { poolId } : {}),
    ...(typeof name === "string" ? { name } : {}),
  };
}

function isPresentedKey(value: unknown): value is PresentedKey {
  if (!isRecord(value) || !isRecord(value["jwk"]) || typeof value["pop"] !== "string") return false;
  const { x5c } = value;
  return x5c === undefined || (Array.isArray(x5c) && x5c.every((one) => typeof one === "string"));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
