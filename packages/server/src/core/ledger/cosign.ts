/**
 * Asking witnesses for their cosignatures on the newest checkpoint (C2SP tlog-witness). They are asked at once; one that is away
 * or refuses leaves a named error on its record, and keeps nothing else waiting.
 */
import { formatAddCheckpoint, parseSignedCheckpoint } from "@signet/protocol/ledger/checkpoint";
import { consistencyProof } from "@signet/protocol/ledger/merkle";
import { cosignedAt, findSignature, parseSignatures, parseVerifierKey } from "@signet/protocol/ledger/note";
import type { OrganisationDirectory } from "../organisations/organisations.ts";
import { type Outbound, type OutboundAnswer, OutboundFailure } from "../outbound/outbound.ts";
import { changeLog, findLog, lockLog } from "./append.store.ts";
import type { AppendDeps } from "./append.ts";
import { tileReader } from "./read-ledger.ts";
import type { LedgerWitness, WitnessError } from "./witness.ts";
import { listWitnesses, noteCosigned } from "./witnesses.store.ts";

export interface CosignDeps extends AppendDeps {
  readonly outbound: Outbound;
  readonly organisations: OrganisationDirectory;
}

interface Asked {
  readonly orgId: string;
  readonly size: number;
  /** The signed note. */
  readonly checkpoint: string;
}

/** A line of the note, or why there is none. */
type Outcome = { readonly line: string; readonly time: number } | { readonly error: WitnessError };

/** @returns whether as many as the organisation asks for have cosigned the newest checkpoint */
export async function cosignNewest(deps: CosignDeps, orgId: string): Promise<boolean> {
  const log = await findLog(deps.database.query, orgId);
  const organisation = await deps.organisations.find(orgId);
  const witnesses = await listWitnesses(deps.database.query, orgId);
  if (!log?.checkpoint || !organisation || witnesses.length === 0) return false;
  const asked: Asked = { orgId, size: log.size, checkpoint: log.checkpoint };
  const outcomes = await Promise.all(witnesses.map((witness) => askAndNote(deps, asked, witness)));
  const lines = outcomes.flatMap((one) => ("line" in one ? [one.line] : []));
  if (lines.length === 0) return false;
  const isWitnessed = lines.length >= organisation.settings.ledgerWitnessQuorum;
  const witnessed = `${noteWithout(asked.checkpoint)}${lines.map((line) => `${line}\n`).join("")}`;
  await deps.database.transaction(async (tx) => {
    const current = await lockLog(tx, orgId);
    if (!current) return;
    // A checkpoint that was signed meanwhile has no cosignatures yet.
    const newest = current.size === asked.size ? { checkpoint: witnessed } : {};
    const counts = isWitnessed && asked.size >= current.witnessedSize;
    const kept = counts ? { witnessed, witnessedSize: asked.size, witnessedAt: deps.clock() } : {};
    if (counts || "checkpoint" in newest) await changeLog(tx, orgId, { ...newest, ...kept });
  });
  return isWitnessed;
}

/** The note with the log's own signature alone: older cosignatures are replaced by newer ones. */
function noteWithout(checkpoint: string): string {
  const signed = parseSignedCheckpoint(checkpoint);
  const own = signed?.note.signatures.find(({ name }) => name === signed.origin);
  if (!signed || !own) throw new Error("a stored checkpoint is not signed by its log");
  return `${signed.note.text}\n${own.line}\n`;
}

async function askAndNote(deps: CosignDeps, asked: Asked, witness: LedgerWitness): Promise<Outcome> {
  const outcome = await ask(deps, asked, witness, Math.min(witness.cosignedSize, asked.size));
  const noted =
    "line" in outcome
      ? { cosignedSize: asked.size, cosignedAt: deps.clock(), lastError: null }
      : { lastError: outcome.error };
  await noteCosigned(deps.database.query, witness, noted);
  return outcome;
}

/** @param isRetry after the witness has told which size it knows */
async function ask(
  deps: CosignDeps,
  asked: Asked,
  witness: LedgerWitness,
  oldSize: number,
  isRetry = false,
): Promise<Outcome> {
  const { orgId, size } = asked;
  const proof = await consistencyProof(tileReader(deps.database.query, orgId), oldSize, size);
  const checkpoint = noteWithout(asked.checkpoint);
  const body = formatAddCheckpoint({ oldSize, proof, checkpoint });
  let answer: OutboundAnswer;
  try {
    answer = await deps.outbound.call(orgId, `${witness.url}/add-checkpoint`, {
      method: "POST",
      headers: { "content-type": "text/plain; charset=utf-8" },
      body,
    });
  } catch (error) {
    if (error instanceof OutboundFailure) return { error: "unreachable" };
    throw error;
  }
  if (answer.status === 200) return cosignature(checkpoint, witness, answer.body.toString());
  const known = answer.status === 409 ? knownSize(answer) : undefined;
  if (known !== undefined && known <= size && known !== oldSize && !isRetry)
    return ask(deps, asked, witness, known, true);
  // Another node may have shown it a newer tree of this log in this moment.
  const current = known !== undefined && known > size ? await findLog(deps.database.query, orgId) : undefined;
  if (current && known !== undefined && current.size >= known) return { error: "refused" };
  return { error: errorOf(answer.status) };
}

function errorOf(status: number): WitnessError {
  if (status === 404 || status === 403) return "unknown-log";
  return status === 409 || status === 422 ? "inconsistent" : "refused";
}

function knownSize({ contentType, body }: OutboundAnswer): number | undefined {
  const [, size] = /^(0|[1-9][0-9]{0,15})\n$/.exec(body.toString()) ?? [];
  return contentType.startsWith("text/x.tlog.size") && size !== undefined ? Number(size) : undefined;
}

/** Other lines of the answer are of keys that nobody has named. */
function cosignature(checkpoint: string, { verifierKey }: LedgerWitness, lines: string): Outcome {
  const key = parseVerifierKey(verifierKey);
  const signatures = parseSignatures(lines);
  const signed = parseSignedCheckpoint(checkpoint);
  const found = key && signatures && findSignature(signatures, key);
  if (!key || !found || !signed) return { error: "bad-cosignature" };
  const time = cosignedAt({ text: signed.note.text, signatures: [found] }, key);
  return time === undefined ? { error: "bad-cosignature" } : { line: found.line, time };
}
