/**
 * Whether this machine may sign: the newest witnessed checkpoint of the organisation's ledger is young enough, and continues the one that it
 * remembers. A service that shows others another history, or hides signatures by not publishing any more, gets nothing signed.
 */

import type { Log } from "@signet/cli-runtime/log";
import { PRIVATE, readIfPresent, replaceFile } from "@signet/cli-runtime/private-file";
import { describeError } from "@signet/cli-runtime/redact";
import { consistencyProof, isConsistent } from "@signet/protocol/ledger/merkle";
import { parseVerifierKey } from "@signet/protocol/ledger/note";
import { formatTilePath } from "@signet/protocol/ledger/tile-path";
import { type Refusal, unable } from "../agent/refusal.ts";
import type { Configuration } from "../configuration/configuration.ts";
import { httpLedger, type LedgerCredential, type ReadLedger } from "./http-ledger.ts";
import { type LedgerKeys, readCheckpoint } from "./read-checkpoint.ts";

type Rules = NonNullable<Configuration["ledger"]>;

/** The newest tree that this machine has believed. */
interface Remembered {
  readonly origin: string;
  readonly size: number;
  /** Base64url. */
  readonly root: string;
  /** Seconds since the epoch. */
  readonly witnessedAt: number;
}

export interface LedgerWatch {
  /** @throws Refusal `ledger_stale`, `ledger_forked`, `ledger_rolled_back`, `ledger_signature`, `ledger_not_witnessed`, … */
  require(): Promise<void>;
  /** For approvals: what others can compare with what they see. */
  remembered(): { readonly size: number; readonly root: string } | undefined;
}

interface WatchDeps {
  readonly log: Log;
  readonly clock: () => number;
  readonly credential?: LedgerCredential;
  readonly read?: ReadLedger;
}

/** How often it looks, while it may sign anyway. */
const LOOK_MS = 10_000;

/** @throws Error for a state file that is of another log, or damaged: this machine would forget what it has seen */
export async function openLedgerWatch(rules: Rules, deps: WatchDeps): Promise<LedgerWatch> {
  const keys = keysOf(rules);
  const { log, clock, read = httpLedger(rules.url, deps.credential) } = deps;
  const maxAgeMs = rules.maxAge * 1000;
  let state = await readState(rules.stateFile, keys.log.name);
  let fault: Refusal | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  let hasLooked = false;
  /** An empty log has no checkpoint: the first signatures make one. */
  let emptySince: number | undefined;

  const isFresh = () => {
    const since = state ? state.witnessedAt * 1000 : emptySince;
    return since !== undefined && since > clock() - maxAgeMs;
  };
  const look = async () => {
    lookedAt = clock();
    try {
      const seen = await lookAt(read, { keys, state, now: clock() });
      if (seen) await writeState(rules.stateFile, seen);
      else emptySince ??= clock();
      state = seen ?? state;
      fault = undefined;
    } catch (error) {
      const refusal = error instanceof Error && "check" in error ? (error as Refusal) : undefined;
      // A service that doesn't answer is no lie; what was seen before counts until it is too old.
      fault = refusal ?? fault;
      log(refusal ? "error" : "warn", "the ledger cannot be believed", {
        check: refusal?.check,
        reason: describeError(error),
      });
    }
  };
  const lookOnce = () => {
    looking ??= look().finally(() => {
      hasLooked = true;
      looking = undefined;
    });
    return looking;
  };
  return {
    require: async () => {
      if (clock() - lookedAt > LOOK_MS) {
        // What an earlier run has seen is not enough to begin with.
        const isFirst = lookedAt === Number.NEGATIVE_INFINITY;
        const looked = lookOnce();
        if (isFirst || !isFresh() || fault) await looked;
      } else if (looking && (!hasLooked || !isFresh())) await looking;
      if (fault) throw fault;
      if (!isFresh())
        throw unable(
          "ledger_stale",
          `no checkpoint of the ledger was witnessed in the last ${rules.maxAge} s`,
        );
    },
    remembered: () => state && { size: state.size, root: state.root },
  };
}

/** @throws InvalidFile's kin: the configuration has checked their forms */
function keysOf({ key, witnesses, quorum = witnesses.length }: Rules): LedgerKeys {
  const log = parseVerifierKey(key);
  const cosigners = witnesses.map(parseVerifierKey).filter((one) => one?.type === 4);
  if (log?.type !== 1 || cosigners.length < witnesses.length || quorum > witnesses.length)
    throw new Error("ledger: key must be of type 1, witnesses of type 4, and quorum at most their number");
  return { log, witnesses: cosigners.filter((one) => one !== undefined), quorum };
}

interface Looking {
  readonly keys: LedgerKeys;
  readonly state: Remembered | undefined;
  readonly now: number;
}

/** @returns undefined for a log without a checkpoint, as long as none is remembered. @throws Refusal for a log that lies */
async function lookAt(read: ReadLedger, { keys, state, now }: Looking): Promise<Remembered | undefined> {
  const text = await read("checkpoint");
  if (text === undefined && state)
    throw unable("ledger_rolled_back", `the ledger is gone, and had ${state.size} entries`);
  if (text === undefined) return undefined;
  const found = readCheckpoint(text.toString(), keys, now);
  if (typeof found === "string") throw unable(found, "the ledger's checkpoint cannot be believed");
  const { checkpoint, witnessedAt } = found;
  const { origin, size, root } = checkpoint;
  const seen = { origin, size, root: root.toString("base64url"), witnessedAt };
  if (!state) return seen;
  if (size < state.size)
    throw unable("ledger_rolled_back", `the ledger has ${size} entries, and had ${state.size}`);
  const from = { size: state.size, root: Buffer.from(state.root, "base64url") };
  const readTile = async (level: number, index: number, width: number) => {
    const tile = await read(formatTilePath({ level, index, width }));
    return tile ?? Buffer.alloc(0);
  };
  const proof = await consistencyProof(readTile, from.size, size).catch((cause: unknown) => {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  });
  if (!proof || !isConsistent(from, { size, root }, proof))
    throw unable("ledger_forked", "the ledger does not continue what this machine remembers of it");
  // The same checkpoint is cosigned anew: it does not grow older by an answer from a cache.
  return { ...seen, witnessedAt: Math.max(witnessedAt, state.witnessedAt) };
}

async function readState(file: string, origin: string): Promise<Remembered | undefined> {
  const text = await readIfPresent(file);
  if (text === undefined) return undefined;
  const state = Object(JSON.parse(text)) as Partial<Remembered>;
  if (state.origin !== origin) throw new Error(`${file} is of another ledger: ${String(state.origin)}`);
  const { size, root, witnessedAt } = state;
  const isWhole =
    Number.isSafeInteger(size) && typeof witnessedAt === "number" && /^[\w-]{43}$/.test(root ?? "");
  if (!isWhole) throw new Error(`${file} is damaged`);
  return state as Remembered;
}

const writeState = (file: string, state: Remembered): Promise<void> =>
  replaceFile(file, `${JSON.stringify(state)}\n`, PRIVATE);
