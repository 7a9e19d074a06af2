/** The settings of a pool as form fields: read and validated. */
import { agentAlgs } from "@signet/protocol/agent-signature";
import { rootFault } from "@signet/protocol/certificates/x5c-chain";
import { isRecordName } from "../../../core/organisations/organisation.ts";
import { issuerModes, type SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { readDurationText, toSeconds } from "../../../page-kit/read-fields.ts";
import { MAX_ROOTS, type NewPool, poolDefaults, poolLimits } from "../admin-api/pools.ts";

export type NumberField = keyof typeof poolLimits;
const numberFields = Object.keys(poolLimits) as NumberField[];

/** Typed as a number and a unit, kept in seconds. */
export type DurationField = Exclude<NumberField, "maxPending" | "approvals">;

export type PoolInput = Record<NumberField, string> & {
  name: string;
  algs: readonly string[];
  issuerMode: string;
  /** Concatenated PEM certificates. */
  trustedRoots: string;
  requireX5c: boolean;
};

const isCount = (field: NumberField): field is Exclude<NumberField, DurationField> =>
  field === "maxPending" || field === "approvals";

const numbers = <T>(of: (field: NumberField) => T) =>
  Object.fromEntries(numberFields.map((field) => [field, of(field)])) as Record<NumberField, T>;

const initial = { ...poolDefaults, maxTokenLifetimeSeconds: 3600 };

export const emptyPool: PoolInput = {
  name: "",
  algs: ["ES256"],
  issuerMode: "pool",
  ...numbers((field) => String(initial[field])),
  trustedRoots: "",
  requireX5c: false,
};

export function toPoolInput(pool: SigningPool): PoolInput {
  const { name, algs, issuerMode, trustedRoots, requireX5c } = pool;
  return {
    ...{ name, algs, issuerMode, requireX5c },
    ...numbers((field) => String(pool[field])),
    trustedRoots: trustedRoots.join(""),
  };
}

export function readPoolInput({ values, all }: SentForm): PoolInput {
  const text = (id: string, max: number) => (values.get(id) ?? "").slice(0, max).trim();
  return {
    ...numbers((field) => (isCount(field) ? text(field, 20) : secondsOf({ values }, field))),
    name: text("name", 200),
    algs: agentAlgs.filter((alg) => all("algs").includes(alg)),
    issuerMode: text("issuerMode", 20),
    trustedRoots: text("trustedRoots", 64_000).replaceAll("\r\n", "\n"),
    requireX5c: values.has("requireX5c"),
  };
}

/** What is no duration stays as it was typed. */
function secondsOf(form: Pick<SentForm, "values">, field: DurationField): string {
  const typed = readDurationText(form, field);
  return String(toSeconds(typed) ?? typed.amount).slice(0, 20);
}

/** Splits PEM certificates; text between them is ignored, as in the CLI. */
const rootsIn = ({ trustedRoots }: PoolInput): string[] =>
  trustedRoots.split(/(?<=-----END CERTIFICATE-----)/).filter((part) => part.trim() !== "");

export const toNewPool = (input: PoolInput): NewPool => ({
  ...input,
  ...numbers((field) => Number(input[field])),
  trustedRoots: rootsIn(input),
});

/** Faults by field, in the order of the page; admin-api/pools.ts checks again. */
export async function poolFaults(
  input: PoolInput,
  now: number,
  { console: { pools } }: Messages,
): Promise<Record<string, string>> {
  const { faults: text } = pools;
  const faults: Record<string, string> = {};
  if (!isRecordName(input.name)) faults["name"] = text.name;
  if (input.algs.length === 0) faults["algs"] = text.algs;
  if (!issuerModes.some((mode) => mode === input.issuerMode)) faults["issuerMode"] = text.issuerMode;
  for (const field of numberFields) {
    const [min, max] = poolLimits[field];
    if (!isWithin(input[field], min, max))
      faults[field] = isCount(field) ? text.number({ min, max }) : text.duration({ min, max });
  }
  const roots = rootsIn(input);
  const root = await rootsFault(roots, now, text);
  if (root !== undefined) faults["trustedRoots"] = root;
  if (input.requireX5c && roots.length === 0) faults["requireX5c"] = text.requireX5c;
  return faults;
}

const isWithin = (text: string, min: number, max: number): boolean =>
  /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max;

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
