/**
 * Parses JSON that was edited by hand. A duplicate member, e.g. after a bad merge, is a fault: the parser would
 * silently take the last one.
 */
import { pointer } from "./member-faults.ts";
import { type FileFault, InvalidFile, MAX_FILE_BYTES } from "./organisation-file.ts";

const MAX_DEPTH = 32;

/** @param bytes UTF-8, with or without byte order mark. @throws InvalidFile */
export function readJsonText(bytes: Uint8Array): unknown {
  if (bytes.length > MAX_FILE_BYTES) throw fault(`is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw fault("is not UTF-8");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fault(`is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  const faults = structureFaults(text);
  if (faults.length > 0) throw new InvalidFile(faults);
  return value;
}

const fault = (message: string) => new InvalidFile([{ path: "", message }]);

/** An object or list that encloses the scan position. */
interface Level {
  /** Undefined for a list. */
  readonly names: Set<string> | undefined;
  at: string | number;
  expectsName: boolean;
}

/** @param text valid JSON */
function structureFaults(text: string): FileFault[] {
  const faults: FileFault[] = [];
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    const level = levels.at(-1);
    if (character === '"') {
      const end = endOfString(text, at);
      if (level?.expectsName) enterMember(levels, level, JSON.parse(text.slice(at, end + 1)), faults);
      at = end;
    } else if (character === "{") {
      levels.push({ names: new Set(), at: "", expectsName: true });
    } else if (character === "[") {
      levels.push({ names: undefined, at: 0, expectsName: false });
    } else if (character === "}" || character === "]") {
      levels.pop();
    } else if (character === "," && level) {
      level.expectsName = level.names !== undefined;
      if (typeof level.at === "number") level.at++;
    }
    if (levels.length > MAX_DEPTH)
      return [{ path: "", message: `is nested deeper than ${MAX_DEPTH} levels` }];
  }
  return faults;
}

function enterMember(levels: readonly Level[], level: Level, name: string, faults: FileFault[]): void {
  level.at = name;
  level.expectsName = false;
  if (level.names?.has(name))
    faults.push({
      path: levels.reduce((path, one) => pointer(path, String(one.at)), ""),
      message: "is a duplicate",
    });
  level.names?.add(name);
}

/** @returns the position of the closing quotation mark of the string that starts at `at` */
function endOfString(text: string, at: number): number {
  let end = at + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end;
}
