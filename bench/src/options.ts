import { parseArgs } from "node:util";
import type { ContestantName } from "./contestants/contestant.ts";
import { type Row, rows } from "./rows.ts";

export type Options = {
  seconds: number;
  rounds: number;
  connections: number;
  rows: readonly Row[];
  only: readonly ContestantName[];
  /** Where to write all figures as JSON. */
  json?: string;
};

export const help = `npm run bench -- [options]
  --rows a,b      ${rows.map((row) => row.name).join(", ")} (default: all)
  --only a,b      bare, peer, signet (default: all)
  --rounds N      rounds of one interval each, interleaved (default 5)
  --seconds N     length of an interval (default 2)
  --connections N persistent connections, one request under way on each (default 32)
  --json FILE     writes all figures there`;

const contestants: readonly ContestantName[] = ["bare", "peer", "signet"];

/** Reads the command line; "help" when it asks for that. Throws an Error that names the first fault. */
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
    rows: chosen("--rows", values.rows, rows, (row) => row.name),
    only: chosen("--only", values.only, contestants, (name) => name),
    rounds: whole("--rounds", values.rounds, 100),
    seconds: whole("--seconds", values.seconds, 60),
    connections: whole("--connections", values.connections, 512),
    ...(values.json === undefined ? {} : { json: values.json }),
  };
}

function chosen<T>(
  option: string,
  list: string | undefined,
  all: readonly T[],
  nameOf: (item: T) => string,
): readonly T[] {
  if (list === undefined) return all;
  const names = list.split(",");
  const unknown = names.find((name) => !all.some((item) => nameOf(item) === name));
  if (unknown !== undefined)
    throw new Error(`${option}: no "${unknown}" among ${all.map(nameOf).join(", ")}`);
  return all.filter((item) => names.includes(nameOf(item)));
}

function whole(option: string, text: string, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new Error(`${option}: a whole number from 1 to ${most}`);
  return value;
}
