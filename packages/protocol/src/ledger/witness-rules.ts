/** What a witness answers to `add-checkpoint` (C2SP tlog-witness): pure, for whoever keeps its state. */
import { parseAddCheckpoint, parseSignedCheckpoint } from "./checkpoint.ts";
import { emptyRoot, isConsistent } from "./merkle.ts";
import { isSignedBy, type VerifierKey } from "./note.ts";

/** The newest tree of a log that this witness has cosigned. */
export interface WitnessedTree {
  readonly size: number;
  readonly root: Buffer;
}

export interface WitnessView {
  /** The keys of a log; undefined for one that the witness does not know. */
  keysOf(origin: string): readonly VerifierKey[] | undefined;
  /** Undefined when it has cosigned none. */
  latestOf(origin: string): WitnessedTree | undefined;
}

export type WitnessVerdict =
  | {
      readonly status: 200;
      readonly origin: string;
      /** To be kept before the cosignature is given. */
      readonly tree: WitnessedTree;
      /** The text to cosign. */
      readonly text: string;
    }
  | {
      /**
       * 400 malformed, or an old size above the new one; 403 not signed by the log; 404 unknown log; 409 another old size, or another
       * root of the same size; 422 not consistent.
       */
      readonly status: 400 | 403 | 404 | 422;
    }
  | {
      readonly status: 409;
      readonly size: number;
      /** Two roots of one size: the log has signed both. */
      readonly isFork?: true;
    };

/** @returns in the order in which the specification wants the checks */
export function judgeCheckpoint(body: string, view: WitnessView): WitnessVerdict {
  const request = parseAddCheckpoint(body);
  const signed = request && parseSignedCheckpoint(request.checkpoint);
  if (!request || !signed) return { status: 400 };
  const { origin, size, root, note } = signed;
  const keys = view.keysOf(origin);
  if (!keys) return { status: 404 };
  if (!keys.some((key) => isSignedBy(note, key))) return { status: 403 };
  if (request.oldSize > size) return { status: 400 };
  const latest = view.latestOf(origin);
  const known = latest?.size ?? 0;
  if (request.oldSize !== known) return { status: 409, size: known };
  if (latest && known === size && !latest.root.equals(root))
    return { status: 409, size: known, isFork: true };
  // Nothing continues an empty tree inconsistently: its root is checked here.
  if (size === 0 && !root.equals(emptyRoot())) return { status: 422 };
  const from = latest ?? { size: 0, root };
  if (!isConsistent(from, { size, root }, request.proof)) return { status: 422 };
  return { status: 200, origin, tree: { size, root }, text: note.text };
}
