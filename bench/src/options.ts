/** The command line of `npm run bench`. */
import { parseArgs } from "node:util";
import type { BenchOptions } from "./bench.ts";
import type { ContestantName } from "./contestants/contestant.ts";
import type { Row } from "./row.ts";
import { rows } from "./rows.ts";

export interface Options extends BenchOptions {
  readonly rows: readonly Row[];
  /** Instead of a file with the time in its name. */
  readonly json?: string;
}

export const help = `npm run bench -- [options]
  --quick         everything, small and short: under three minutes
  --scale         the rows of many organisations, tokens, events and streams, at full size
  --rows a,b      ${rows.map((row) => row.name).join(", ")} (default: all)
  --only a,b      bare, peer, signet (default: all)
  --rounds N      number of rounds, interleaved across contestants (default 5; quick 2)
  --seconds N     length of an interval (default 2; quick 0.4)
  --connections N persistent connections, one request in flight on each (default 32)
  --json FILE     where all figures go (default: bench/results/, by the time)`;

const contestants: readonly ContestantName[] = ["bare", "peer", "signet"];

/** Reads the command line; "help" for --help. @throws Error naming the first invalid option */
export function readOptions(args: readonly string[]): Options | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      scale: { type: "boolean", default: false },
      rows: { type: "string" },
      only: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      connections: { type: "string", default: "32" },
      json: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const { quick, scale, json } = values;
  if (quick && scale) throw new Error("--quick and --scale: one of them");
  return {
    size: quick ? "quick" : scale ? "scale" : "usual",
    rows: selectRows(values.rows, scale),
    only: selectByName("--only", values.only, contestants, (name) => name),
    rounds: readNumber("--rounds", values.rounds ?? (quick ? "2" : "5"), { min: 1, max: 100, isWhole: true }),
    seconds: readNumber("--seconds", values.seconds ?? (quick ? "0.4" : "2"), {
      min: 0.1,
      max: 60,
      isWhole: false,
    }),
    connections: readNumber("--connections", values.connections, { min: 1, max: 512, isWhole: true }),
    ...(json === undefined ? {} : { json }),
  };
}

function selectRows(list: string | undefined, isScale: boolean): readonly Row[] {
  if (list === undefined && isScale) return rows.filter(({ grows }) => grows);
  return selectByName("--rows", list, rows, (row) => row.name);
}

function selectByName<T>(
  option: string,
  list: string | undefined,
  all: readonly T[],
  nameOf: (item: T) => string,
): readonly T[] {
  if (list === undefined) return all;
  const names = list.split(",");
  const unknown = names.find((name) => !all.some((item) => nameOf(item) === name));
  if (unknown !== undefined)
    throw new Error(`${option}: unknown value "${unknown}", expected ${all.map(nameOf).join(", ")}`);
  return all.filter((item) => names.includes(nameOf(item)));
}

function readNumber(
  option: string,
  text: string,
  { min, max, isWhole }: { min: number; max: number; isWhole: boolean },
): number {
  const value = Number(text);
  if ((isWhole && !Number.isInteger(value)) || !(value >= min && value <= max))
    throw new Error(`${option}: must be a ${isWhole ? "whole " : ""}number from ${min} to ${max}`);
  return value;
}
