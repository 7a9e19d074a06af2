/** Compares what signing agents say that they signed with what the ledger says: either side may hide or invent a signature. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { LedgerEntry } from "@signet/protocol/ledger/entry";

/** What agents have signed, by the hash of the signing input. */
export interface JournaledSignatures {
  readonly kids: ReadonlySet<string>;
  /** Seconds since the epoch. */
  readonly signedAt: ReadonlyMap<string, number>;
}

export interface JournalFindings {
  /** Signed by an agent, and not in the ledger. */
  readonly missing: readonly string[];
  /** In the ledger with a key of an agent that has not signed it. */
  readonly unknown: readonly string[];
}

/** Entries of agents from before they wrote these hashes are left out. */
export async function readJournals(files: readonly string[]): Promise<JournaledSignatures> {
  const [kids, signedAt] = [new Set<string>(), new Map<string, number>()];
  for (const file of files)
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      const found = readSigned(line);
      if (!found) continue;
      kids.add(found.kid);
      signedAt.set(found.inputSha256, found.time);
    }
  return { kids, signedAt };
}

function readSigned(line: string) {
  try {
    const { event, kid, inputSha256, time } = Object(JSON.parse(line)) as Record<string, unknown>;
    const at = typeof time === "string" ? Date.parse(time) / 1_000 : Number.NaN;
    if (event !== "signed" || typeof kid !== "string" || typeof inputSha256 !== "string") return undefined;
    return Number.isNaN(at) ? undefined : { kid, inputSha256, time: at };
  } catch {
    // The last line of a running agent's journal may be half written.
    return undefined;
  }
}

/**
 * @param entries the whole ledger
 * @param span what was signed between these times, in seconds since the epoch, must be there: from the first entry, without the merge delay
 */
export function compareJournals(
  { kids, signedAt }: JournaledSignatures,
  entries: readonly LedgerEntry[],
  span: { readonly from: number; readonly until: number },
): JournalFindings {
  const logged = new Map(
    entries.flatMap((entry) => ("sha256" in entry ? [[entry.sha256, entry.kid] as const] : [])),
  );
  const isDue = (time: number) => time >= span.from && time <= span.until;
  return {
    missing: [...signedAt].filter(([hash, time]) => isDue(time) && !logged.has(hash)).map(([hash]) => hash),
    unknown: [...logged].filter(([hash, kid]) => kids.has(kid) && !signedAt.has(hash)).map(([hash]) => hash),
  };
}
