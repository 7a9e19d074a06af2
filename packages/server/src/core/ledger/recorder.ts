/**
 * Recording signatures. An entry is on disk before its token is handed out: what is signed at the same moment for one
 * organisation is one row, so that a token waits for a write that it shares with others. The tree grows later (append.ts).
 */
import {
  type EntryKind,
  formatEntry,
  type SignatureEntry,
  signingInputHash,
} from "@signet/protocol/ledger/entry";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { seconds } from "../clock.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { OrganisationDirectory } from "../organisations/organisations.ts";
import { insertBatch } from "./append.store.ts";

/** A compact JWS that was just signed. */
export interface RecordedSignature {
  readonly kind: EntryKind;
  readonly kid: string;
  readonly jws: string;
  /** SHA-256 of each agent's approval. */
  readonly approvals?: readonly string[];
}

export interface LedgerRecorder {
  /**
   * Resolves when the entries are on disk; immediately, for an organisation without a ledger. Not inside a transaction.
   * @throws when they can't be written: the token must not be handed out
   */
  record(orgId: string, signatures: readonly RecordedSignature[]): Promise<void>;
  /** In the caller's transaction, for signatures of a pool's agents. */
  recordIn(
    tx: Db,
    of: { orgId: string; poolId: string },
    signatures: readonly RecordedSignature[],
  ): Promise<void>;
}

export interface RecorderDeps extends CoreDeps {
  readonly organisations: OrganisationDirectory;
}

/** Entries of one row. */
const MAX_BATCH = 500;

interface Waiting {
  readonly entries: string[];
  readonly written: Promise<void>;
}

export function ledgerRecorder(deps: RecorderDeps): LedgerRecorder {
  const { database, clock, organisations } = deps;
  const isOn = async (orgId: string): Promise<boolean> => {
    const organisation = await organisations.find(orgId);
    return organisation !== undefined && organisation.settings.ledger !== "off";
  };
  const join = batches((orgId, entries) => insertBatch(database.query, { orgId, id: newUuid(), entries }));
  return {
    record: async (orgId, signatures) => {
      if (!(await isOn(orgId))) return;
      const time = seconds(clock());
      await join(
        orgId,
        signatures.map((one) => formatEntry(entryOf(one, { time, signer: "local" }))),
      );
    },
    recordIn: async (tx, { orgId, poolId }, signatures) => {
      if (signatures.length === 0 || !(await isOn(orgId))) return;
      const time = seconds(clock());
      const entries = signatures.map((one) => formatEntry(entryOf(one, { time, signer: `pool:${poolId}` })));
      for (let at = 0; at < entries.length; at += MAX_BATCH)
        await insertBatch(tx, { orgId, id: newUuid(), entries: entries.slice(at, at + MAX_BATCH) });
    },
  };
}

const entryOf = (
  { kind, kid, jws, approvals = [] }: RecordedSignature,
  { time, signer }: Pick<SignatureEntry, "time" | "signer">,
): SignatureEntry => ({ v: 1, kind, sha256: signingInputHash(jws), kid, time, signer, approvals });

/** What comes in one turn of the event loop is written together. */
function batches(write: (orgId: string, entries: readonly string[]) => Promise<void>) {
  const waiting = new Map<string, Waiting>();
  return (orgId: string, entries: readonly string[]): Promise<void> => {
    const open = waiting.get(orgId);
    if (open && open.entries.length + entries.length <= MAX_BATCH) {
      open.entries.push(...entries);
      return open.written;
    }
    const all = [...entries];
    const written = new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        if (waiting.get(orgId) === batch) waiting.delete(orgId);
        write(orgId, all).then(resolve, reject);
      });
    });
    const batch: Waiting = { entries: all, written };
    waiting.set(orgId, batch);
    return written;
  };
}
