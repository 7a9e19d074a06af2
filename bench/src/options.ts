import { parseArgs } from "node:util";
import type { ContestantName } from "./contestants/contestant.ts";
import { type Row, rows } from "./rows.ts";

export type Options = {
  seconds: number;
  rounds: number;
  connections: number;
  rows: readonly Row[];
  only: readonly ContestantName[];
  /** Output file for all figures as JSON. */
  json?: string;
};

export const help = `npm run bench -- [options]
  --rows a,b      ${rows.map((row) => row.name).join(", ")} (default: all)
  --only a,b      bare, peer, signet (default: all)
  --rounds N      number of rounds, interleaved across contestants (default 5)
  --seconds N     length of an interval (default 2)
  --connections N persistent connections, one request in flight on each (default 32)
  --json FILE     write all figures to a file`;

const contestants: readonly ContestantName[] = ["bare", "peer", "signet"];

/** Reads the command line; "help" for --help. @throws Error naming the first invalid option */
export function readOptions(args: readonly string[]): Options | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: "string" },
      only: { type: "string" },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "2" },
      connections: { type: "string", default: "32" },
      json: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  return {
    rows: selectByName("--rows", values.rows, rows, (row) => row.name),
    only: selectByName("--only", values.only, contestants, (name) => name),
    rounds: readWholeNumber("--rounds", values.rounds, 100),
    seconds: readWholeNumber("--seconds", values.seconds, 60),
    connections: readWholeNumber("--connections", values.connections, 512),
    ...(values.json === undefined ? {} : { json: values.json }),
  };
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

function readWholeNumber(option: string, text: string, max: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new Error(`${option}: must be a whole number from 1 to ${max}`);
  return value;
}
