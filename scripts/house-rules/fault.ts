import type { SourceFile } from "../source-files.ts";

/** A place that breaks a rule; `line` counts from 1. */
export type Fault = { file: string; line: number; rule: string; message: string };

/** A house rule: looks at all files at once and names every fault. Has no effects of its own. */
export type HouseRule = (files: SourceFile[]) => Fault[];

/** Line number, from 1, of a position in a text. */
export function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** Tests, and what only tests use, are free of the rules that keep the product's parts apart. */
export function isTestCode(path: string): boolean {
  return path.endsWith(".test.ts") || /^packages\/[^/]+\/src\/testing\//.test(path);
}
