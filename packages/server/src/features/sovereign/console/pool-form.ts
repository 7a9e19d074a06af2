/** Reads and validates the form of a pool's settings. */
import { agentAlgs, isAgentAlg } from "@signet/protocol/agent-signature";
import { rootFault } from "@signet/protocol/certificates/x5c-chain";
import { issuerModes, type SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { MAX_ROOTS, type NewPool, poolDefaults, poolLimits, requireName } from "../admin-api/pools.ts";

export type NumberField = keyof typeof poolLimits;
export const numberFields = Object.keys(poolLimits) as NumberField[];

/** The fields as typed, by name. */
export type TypedPool = Record<NumberField, string> & {
  name: string;
  algs: readonly string[];
  issuerMode: string;
  /** Concatenated PEM certificates. */
  trustedRoots: string;
  requireX5c: boolean;
};

export const newPool: TypedPool = {
  name: "",
  algs: ["ES256"],
  issuerMode: "pool",
  maxTokenLifetimeSeconds: "3600",
  tokenWaitSeconds: String(poolDefaults.tokenWaitSeconds),
  keyPublishDelaySeconds: String(poolDefaults.keyPublishDelaySeconds),
  maxPending: String(poolDefaults.maxPending),
  trustedRoots: "",
  requireX5c: false,
};

export function typedPool(pool: SigningPool): TypedPool {
  const { name, algs, issuerMode, trustedRoots, requireX5c } = pool;
  const numbers = Object.fromEntries(numberFields.map((field) => [field, String(pool[field])]));
  return {
    ...(numbers as Record<NumberField, string>),
    ...{ name, algs, issuerMode, requireX5c },
    trustedRoots: trustedRoots.join(""),
  };
}

export function readPool(
  values: ReadonlyMap<string, string>,
  all: (name: string) => readonly string[],
): TypedPool {
  const text = (id: string, most: number) => (values.get(id) ?? "").slice(0, most).trim();
  const numbers = Object.fromEntries(numberFields.map((field) => [field, text(field, 20)]));
  return {
    ...(numbers as Record<NumberField, string>),
    name: text("name", 200),
    algs: agentAlgs.filter((alg) => all("algs").includes(alg)),
    issuerMode: text("issuerMode", 20),
    trustedRoots: text("trustedRoots", 64_000).replaceAll("\r\n", "\n"),
    requireX5c: values.has("requireX5c"),
  };
}

/** Splits PEM certificates; text between them is ignored, as in the CLI. */
function rootsIn({ trustedRoots }: TypedPool): string[] {
  return trustedRoots === ""
    ? []
    : trustedRoots.split(/(?<=-----END CERTIFICATE-----)/).filter((part) => part.trim() !== "");
}

/** The validated input. */
export function poolInput(typed: TypedPool): NewPool {
  const { name, algs, issuerMode, requireX5c } = typed;
  const number = (field: NumberField) => Number(typed[field]);
  return {
    ...{ name, algs, issuerMode, requireX5c },
    maxTokenLifetimeSeconds: number("maxTokenLifetimeSeconds"),
    tokenWaitSeconds: number("tokenWaitSeconds"),
    keyPublishDelaySeconds: number("keyPublishDelaySeconds"),
    maxPending: number("maxPending"),
    trustedRoots: rootsIn(typed),
  };
}

/** Errors by field, in the order of the page; pools.ts checks again. */
export async function poolFaults(
  typed: TypedPool,
  now: number,
  { console: { pools } }: Messages,
): Promise<Record<string, string>> {
  const { faults: text } = pools;
  const faults: Record<string, string> = {};
  if (!isName(typed.name)) faults["name"] = text.name;
  if (typed.algs.length === 0 || !typed.algs.every(isAgentAlg)) faults["algs"] = text.algs;
  if (!issuerModes.some((mode) => mode === typed.issuerMode)) faults["issuerMode"] = text.issuerMode;
  for (const field of numberFields) {
    const [least, most] = poolLimits[field];
    if (!isWithin(typed[field], least, most)) faults[field] = text.number({ min: least, max: most });
  }
  const root = await rootsFault(rootsIn(typed), now, text);
  if (root !== undefined) faults["trustedRoots"] = root;
  if (typed.requireX5c && rootsIn(typed).length === 0) faults["requireX5c"] = text.requireX5c;
  return faults;
}

function isName(name: string): boolean {
  try {
    requireName(name);
    return true;
  } catch {
    return false;
  }
}

const isWithin = (text: string, least: number, most: number): boolean =>
  /^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most;

async function rootsFault(
  roots: readonly string[],
  now: number,
  text: Messages["console"]["pools"]["faults"],
): Promise<string | undefined> {
  if (roots.length > MAX_ROOTS) return text.tooManyRoots({ max: MAX_ROOTS });
  for (const [index, pem] of roots.entries()) {
    if (/PRIVATE KEY/i.test(pem)) return text.privateKey;
    if ((await rootFault(pem, now)) !== undefined) return text.root({ count: index + 1 });
  }
  return undefined;
}
