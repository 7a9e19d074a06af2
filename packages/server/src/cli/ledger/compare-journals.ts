/** Compares what signing agents say that they signed with what the ledger says: either side may hide or invent a signature. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { LedgerEntry } from "@signet/protocol/ledger/entry";

/** What agents have signed, by the hash of the signing input. */
export interface JournaledSignatures {
  readonly kids: ReadonlySet<string>;
  /** Seconds since the epoch. */
  readonly signedAt: ReadonlyMap<string, number>;
  /** The same of what another agent was to sign. */
  readonly approvedAt: ReadonlyMap<string, number>;
}

export interface JournalFindings {
  /** Signed by an agent, and not in the ledger. */
  readonly missing: readonly string[];
  /** In the ledger with a key of an agent that has not signed it. */
  readonly unknown: readonly string[];
  /** Approved, and not in the ledger: its signer was replaced, or has signed unseen. */
  readonly unsigned: readonly string[];
}

/** Entries of agents from before they wrote these hashes are left out. */
export async function readJournals(files: readonly string[]): Promise<JournaledSignatures> {
  const kids = new Set<string>();
  const [signedAt, approvedAt] = [new Map<string, number>(), new Map<string, number>()];
  for (const file of files)
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      const found = readSigned(line);
      if (!found) continue;
      const { kid, inputSha256, time, event } = found;
      // The key of an approval is the other agent's.
      if (event === "signed") kids.add(kid);
      (event === "signed" ? signedAt : approvedAt).set(inputSha256, time);
    }
  return { kids, signedAt, approvedAt };
}

function readSigned(line: string) {
  try {
    const { event, use, kid, inputSha256, time } = Object(JSON.parse(line)) as Record<string, unknown>;
    // Answers to introspection and userinfo are in no ledger.
    if (use === "introspection_response" || use === "userinfo_response") return undefined;
    const at = typeof time === "string" ? Date.parse(time) / 1_000 : Number.NaN;
    if (
      (event !== "signed" && event !== "approved") ||
      typeof kid !== "string" ||
      typeof inputSha256 !== "string"
    )
      return undefined;
    return Number.isNaN(at) ? undefined : { event, kid, inputSha256, time: at };
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
  { kids, signedAt, approvedAt }: JournaledSignatures,
  entries: readonly LedgerEntry[],
  span: { readonly from: number; readonly until: number },
): JournalFindings {
  const logged = new Map(
    entries.flatMap((entry) => ("sha256" in entry ? [[entry.sha256, entry.kid] as const] : [])),
  );
  const isDue = (time: number) => time >= span.from && time <= span.until;
  const notLogged = (of: ReadonlyMap<string, number>) =>
    [...of].filter(([hash, time]) => isDue(time) && !logged.has(hash)).map(([hash]) => hash);
  return {
    missing: notLogged(signedAt),
    unsigned: notLogged(approvedAt),
    unknown: [...logged].filter(([hash, kid]) => kids.has(kid) && !signedAt.has(hash)).map(([hash]) => hash),
  };
}
