/** A witness of an organisation's log: anybody's service that speaks C2SP tlog-witness. */
import type { RecordOf } from "../../db/records.ts";
import type { LedgerWitnessTable } from "../../db/tables/ledger.ts";

export type LedgerWitness = RecordOf<LedgerWitnessTable>;

export const witnessFaults = {
  "invalid-url": "must be an https URL without a query",
  "invalid-key": "must be a verifier key of type 4, as in C2SP tlog-cosignature",
  "known-key": "is the key of another witness of this organisation",
  "too-many-witnesses": "The organisation has as many witnesses as it can have",
} as const;

export class InvalidWitness extends Error {
  readonly code: keyof typeof witnessFaults;
  /** JSON Pointer; undefined where it is about no member. */
  readonly path: string | undefined;
  constructor(code: InvalidWitness["code"], path?: string) {
    super(witnessFaults[code]);
    this.name = "InvalidWitness";
    this.code = code;
    this.path = path;
  }
}

/** Why the last call brought no cosignature. */
export type WitnessError =
  | "unreachable"
  | "unknown-log"
  | "refused"
  /** It has cosigned a tree that this log does not continue: a fork, or a database that was set back. */
  | "inconsistent"
  | "bad-cosignature";
