/** Judges what a log sends, remembers its tree, then cosigns it (C2SP tlog-witness, tlog-cosignature). */
import { createPrivateKey } from "node:crypto";
import type { Log } from "@signet/cli-runtime/log";
import { readPrivateFile } from "@signet/cli-runtime/private-file";
import { parseAddCheckpoint, parseSignedCheckpoint } from "@signet/protocol/ledger/checkpoint";
import {
  cosignatureLine,
  formatVerifierKey,
  type NoteSigner,
  rawPublicKey,
} from "@signet/protocol/ledger/note";
import { judgeCheckpoint, type WitnessVerdict } from "@signet/protocol/ledger/witness-rules";
import type { LogKeys } from "./witness-configuration.ts";
import type { WitnessState } from "./witness-state.ts";

export type WitnessAnswer =
  | { readonly status: 200; readonly line: string; readonly origin: string; readonly size: number }
  | { readonly status: 409; readonly size: number }
  | { readonly status: 400 | 403 | 404 | 422 };

export interface WitnessDeps {
  readonly signer: NoteSigner;
  readonly state: WitnessState;
  readonly logs: () => LogKeys;
  readonly clock: () => number;
  readonly log: Log;
}

/** @throws Error when the tree cannot be kept: nothing is cosigned then */
export function addCheckpoint(deps: WitnessDeps, body: string): WitnessAnswer {
  const { signer, state, logs, clock } = deps;
  const view = { keysOf: (origin: string) => logs().get(origin), latestOf: state.latestOf };
  // One transaction: of two requests at once, the second is judged by what the first has left.
  const verdict = state.transaction(() => {
    const judged = judgeCheckpoint(body, view);
    if (judged.status === 200) state.keep(judged.origin, judged.tree);
    return judged;
  });
  if (verdict.status !== 200) {
    warnOfFork(deps, body, verdict);
    return verdict.status === 409 ? { status: 409, size: verdict.size } : { status: verdict.status };
  }
  const { origin, tree, text } = verdict;
  const line = cosignatureLine(text, signer, Math.floor(clock() / 1_000));
  return { status: 200, line, origin, size: tree.size };
}

const MAX_LOGGED = 4_096;

/** The log's own signature is on it: evidence, which nobody else can make (or fill this log with). */
function warnOfFork({ log }: WitnessDeps, body: string, verdict: WitnessVerdict): void {
  if (verdict.status !== 422 && !(verdict.status === 409 && verdict.isFork)) return;
  const { checkpoint = "" } = parseAddCheckpoint(body) ?? {};
  log("error", "a log's checkpoint does not continue what this witness has cosigned", {
    ...{ origin: parseSignedCheckpoint(checkpoint)?.origin, status: verdict.status },
    checkpoint: checkpoint.slice(0, MAX_LOGGED),
  });
}

/** @throws Error for anything but an Ed25519 key in a private file */
export async function openWitnessKey(name: string, keyFile: string): Promise<NoteSigner> {
  const privateKey = createPrivateKey(await readPrivateFile(keyFile));
  if (privateKey.asymmetricKeyType !== "ed25519") throw new Error(`${keyFile} is not an Ed25519 key`);
  return { name, privateKey };
}

/** What logs are given, and whoever verifies their checkpoints. */
export const witnessKeyText = ({ name, privateKey }: NoteSigner): string =>
  formatVerifierKey({ name, type: 4, publicKey: rawPublicKey(privateKey) });
