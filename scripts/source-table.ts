/**
 * A source map (ECMA-426) as a table of numbers, which is read and searched in milliseconds: Node's SourceMap takes seconds for a
 * whole server's, in which it answers nobody.
 */
import { readFile, writeFile } from "node:fs/promises";

/** Numbers of a row: generated line and column, source, its line and column, all from 0; source −1 for what comes from none. */
const FIELDS = 5;

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const digits = new Uint8Array(128).fill(64);
for (const [value, letter] of [...BASE64].entries()) digits[letter.charCodeAt(0)] = value;

/** Writes `FILE.sources` and `FILE.positions` beside `FILE.map`. */
export async function writeSourceTable(file: string): Promise<void> {
  const { sources, mappings } = JSON.parse(await readFile(`${file}.map`, "utf8")) as {
    sources: string[];
    mappings: string;
  };
  await writeFile(`${file}.sources`, JSON.stringify(sources));
  await writeFile(`${file}.positions`, rowsOf(mappings));
}

function rowsOf(mappings: string): Int32Array {
  const rows = new Int32Array(mappings.split(/[,;]/).length * FIELDS);
  let length = 0;
  /** Of the row before, on which a mapping's numbers build. */
  const at = [0, 0, 0, 0];
  for (const [line, segments] of mappings.split(";").entries()) {
    at[0] = 0;
    for (const segment of segments === "" ? [] : segments.split(",")) {
      const deltas = numbersOf(segment);
      for (const [field, delta] of deltas.entries())
        if (field < at.length) at[field] = (at[field] ?? 0) + delta;
      const hasSource = deltas.length > 1;
      rows.set([line, at[0], hasSource ? (at[1] ?? 0) : -1, at[2] ?? 0, at[3] ?? 0], length);
      length += FIELDS;
    }
  }
  return rows.subarray(0, length);
}

/** Base64 VLQ: six bits a letter, of which one says that more follow, and the lowest of the whole is the sign. */
function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (let index = 0; index < segment.length; index += 1) {
    const digit = digits[segment.charCodeAt(index)] ?? 0;
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >>> 1) : value >>> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}
