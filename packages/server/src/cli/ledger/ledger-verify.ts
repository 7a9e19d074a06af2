/** `signet ledger verify` and `signet ledger monitor`: a ledger, looked at from outside, by its address alone. */
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { type LedgerEntry, parseEntry, signingInputHash } from "@signet/protocol/ledger/entry";
import { emptyEdge, leafHash, rootOfInclusion, type TreeEdge } from "@signet/protocol/ledger/merkle";
import { parseVerifierKey, type VerifierKey } from "@signet/protocol/ledger/note";
import { parseLedgerProof } from "@signet/protocol/ledger/proof";
import {
  type Command,
  jsonOption,
  optionalText,
  type RemoteCall,
  repeatedText,
  requiredText,
  UsageError,
  type Values,
} from "../command.ts";
import { errorMessage, escapeControls, printResult } from "../output.ts";
import { compareJournals, type JournalFindings, readJournals } from "./compare-journals.ts";
import { followLog, LedgerFault, type LedgerTrust, type ReadLedger, requireTrusted } from "./follow-log.ts";
import { isPrefix, readState, writeState } from "./monitor-state.ts";

const trustOptions = {
  url: { value: "URL", help: "address of the ledger: …/ledger/ORG", required: true },
  key: { value: "KEY", help: "verifier key of the log, as it was got elsewhere", required: true },
  witness: { value: "KEY", multiple: true, help: "verifier key of a witness; repeatable" },
  quorum: { value: "COUNT", help: "how many of them must have cosigned (default: all)" },
  "max-age": { value: "SECONDS", help: "how old their cosignatures may be (default: any age)" },
  "token-file": { value: "FILE", help: "file with an access token, for a ledger of members" },
  ...jsonOption,
} as const;

/** The merge delay: what was signed since need not be there yet. */
const MERGE_SECONDS = 10;
const TIMEOUT_MS = 10_000;
/** Between the clocks of a witness and of this machine. */
const SKEW_SECONDS = 300;
const MAX_BYTES = 32 * 1024 * 1024;

export const ledgerVerify: Command = {
  name: "ledger verify",
  summary: "verify a ledger of signatures from outside: exit code 1 if it cannot be believed",
  usage: "--url URL --key KEY [--witness KEY]… [--quorum COUNT] [--jws FILE] [--json]",
  options: { ...trustOptions, jws: { value: "FILE", help: "file with a token that must be in it" } },
  examples: [
    "signet ledger verify --url https://id.example/ledger/01998d6e-… --key 'id.example/ledger/…+1a2b3c4d+AU…'",
  ],
  runRemotely: (call) =>
    reported(call, async () => {
      const [read, trust] = [await reader(call.values), readTrust(call.values)];
      const file = optionalText(call.values, "jws");
      if (file !== undefined) return verifyToken(read, trust, (await readFile(file, "utf8")).trim());
      const { checkpoint, read: entries } = await followLog(read, trust, emptyEdge);
      return { ok: true, size: checkpoint.size, root: checkpoint.root.toString("base64"), entries };
    }),
};

export const ledgerMonitor: Command = {
  name: "ledger monitor",
  summary: "follow a ledger, remember what it said, and compare it with agents' journals",
  usage: "--url URL --key KEY --state FILE [--witness KEY]… [--journal FILE]… [--every SECONDS] [--json]",
  options: {
    ...trustOptions,
    state: { value: "FILE", help: "where it keeps what it has seen", required: true },
    journal: { value: "FILE", multiple: true, help: "journal of a signing agent; repeatable" },
    every: { value: "SECONDS", help: "look again after this time, until interrupted (default: once)" },
  },
  examples: ["signet ledger monitor --url https://id.example/ledger/01998d6e-… --key '…' --state seen.json"],
  runRemotely: async (call) => {
    const every = readCount(call.values, "every", 86_400);
    for (;;) {
      const code = await reported(call, () => monitorOnce(call.values));
      if (every === undefined || code !== 0) return code;
      await pause(every * 1_000);
    }
  },
};

type Report = Readonly<Record<string, unknown>> & { readonly ok: boolean };

async function monitorOnce(values: Values): Promise<Report> {
  const [read, trust] = [await reader(values), readTrust(values)];
  const file = requiredText(values, "state");
  const state = await readState(file, trust.log.name);
  const entries: LedgerEntry[] = [];
  const files = repeatedText(values, "journal");
  // Journals are compared with the whole ledger, which is then read from its beginning, and must lead to what was seen.
  const from: TreeEdge = files.length > 0 ? emptyEdge : state.edge;
  const journals = await readJournals(files);
  const followed = await followLog(read, trust, from, (entry, index) => {
    if (files.length > 0 && index === entries.length) entries.push(entry);
  });
  if (from !== state.edge) requireContinues(entries, state.edge, followed.edge);
  await writeState(file, trust.log.name, followed.edge);
  const { checkpoint, edge } = followed;
  const report = { size: checkpoint.size, root: checkpoint.root.toString("base64"), before: state.edge.size };
  if (files.length === 0) return { ok: true, ...report, entries: edge.size - state.edge.size };
  const found = compare(journals, entries);
  return { ok: found.missing.length === 0 && found.unknown.length === 0, ...report, ...found };
}

/** @throws LedgerFault forked */
function requireContinues(entries: readonly LedgerEntry[], before: TreeEdge, after: TreeEdge): void {
  if (after.size < before.size)
    throw new LedgerFault("rolled-back", `the log has ${after.size} entries, and had ${before.size} before`);
  if (!isPrefix(entries, before))
    throw new LedgerFault(
      "forked",
      "the log does not continue what was seen before: it shows different histories",
    );
}

function compare(
  journals: Awaited<ReturnType<typeof readJournals>>,
  entries: readonly LedgerEntry[],
): JournalFindings {
  const from = entries[0]?.time ?? Number.POSITIVE_INFINITY;
  return compareJournals(journals, entries, { from, until: Date.now() / 1_000 - MERGE_SECONDS });
}

/** @throws LedgerFault */
async function verifyToken(read: ReadLedger, trust: LedgerTrust, jws: string): Promise<Report> {
  const sha256 = signingInputHash(jws);
  const proof = parseLedgerProof((await read(`proof?sha256=${sha256}`)).toString());
  const entry = proof && parseEntry(proof.entry);
  if (!proof || !entry || !("sha256" in entry) || entry.sha256 !== sha256)
    throw new LedgerFault("bad-entries", "the proof is not of this token");
  const checkpoint = requireTrusted(proof.checkpoint, trust);
  const root = rootOfInclusion(leafHash(Buffer.from(proof.entry)), proof.index, checkpoint.size, proof.proof);
  if (!root?.equals(checkpoint.root))
    throw new LedgerFault("forked", "the proof does not lead to the checkpoint");
  return { ok: true, index: proof.index, size: checkpoint.size, entry };
}

async function reported(call: RemoteCall, work: () => Promise<Report>): Promise<number> {
  try {
    const report = await work();
    printResult(call, report, () =>
      Object.entries(report).map(([name, value]) => escapeControls(`${name}: ${JSON.stringify(value)}`)),
    );
    return report.ok ? 0 : 1;
  } catch (error) {
    if (!(error instanceof LedgerFault)) throw error;
    const report = { ok: false, error: error.code, message: error.message };
    printResult(call, report, () => [escapeControls(`${error.code}: ${error.message}`)]);
    return 1;
  }
}

function readTrust(values: Values): LedgerTrust {
  const log = readKey("key", requiredText(values, "key"), 1);
  const witnesses = repeatedText(values, "witness").map((text) => readKey("witness", text, 4));
  const quorum = readCount(values, "quorum", 9) ?? witnesses.length;
  if (quorum > witnesses.length) throw new UsageError("--quorum is more than there are witnesses");
  const age = readCount(values, "max-age", 31_536_000);
  const now = Date.now() / 1_000;
  return { log, witnesses, quorum, since: age === undefined ? 0 : now - age, until: now + SKEW_SECONDS };
}

function readKey(option: string, text: string, type: VerifierKey["type"]): VerifierKey {
  const key = parseVerifierKey(text.trim());
  if (key?.type !== type) throw new UsageError(`--${option} must be a verifier key of type ${type}`);
  return key;
}

function readCount(values: Values, option: string, most: number): number | undefined {
  const text = optionalText(values, option);
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text) || Number(text) > most)
    throw new UsageError(`--${option} must be a number from 1 to ${most}`);
  return Number(text);
}

async function reader(values: Values): Promise<ReadLedger> {
  const base = URL.parse(requiredText(values, "url"));
  if (base?.protocol !== "https:" && base?.protocol !== "http:")
    throw new UsageError("--url must be an http or https URL");
  const file = optionalText(values, "token-file");
  const token = file === undefined ? undefined : (await readFile(file, "utf8")).trim();
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return async (path) => {
    const url = `${base.href.replace(/\/+$/, "")}/${path}`;
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const answer = await fetch(url, { headers, signal, redirect: "error" });
      if (!answer.ok) throw new Error(`the ledger answered ${answer.status}`);
      return await readBounded(answer);
    } catch (error) {
      throw new LedgerFault("unreachable", `${path.split("?")[0]}: ${errorMessage(error)}`, { cause: error });
    }
  };
}

/** A hostile service could answer without end. */
async function readBounded({ body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
