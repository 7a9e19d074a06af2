/** `LOG_FORMAT=pretty`: the same lines for people at a terminal. A member's value never leaves its line, nor reaches the terminal as a command. */
import type { DestinationStream } from "pino";
import { escapeControls } from "../output.ts";

const LEVELS = new Map([
  [10, "trace"],
  [20, "debug"],
  [30, "info"],
  [40, "warn"],
  [50, "error"],
  [60, "fatal"],
]);
/** Those that have a place of their own, and those that are the same in every line. */
const PLACED = new Set(["level", "time", "msg", "stack", "service"]);

interface Buffered {
  write(text: string): unknown;
  flush(done?: (error?: Error) => void): void;
}

/** @param out gets the lines as they are to be read */
export const prettyLines = (out: Buffered): DestinationStream & Pick<Buffered, "flush"> => ({
  write: (line) => void out.write(prettyLine(line)),
  flush: (done) => out.flush(done),
});

/** @param line JSON, of pino or of `requestLine` */
export function prettyLine(line: string): string {
  const { level, time, msg, stack, ...others } = JSON.parse(line) as Record<string, unknown>;
  const members = Object.entries(others).filter(([name]) => !PLACED.has(name));
  const at = new Date(String(time)).toTimeString().slice(0, 8);
  const name = (LEVELS.get(Number(level)) ?? String(level)).padEnd(5);
  const told = members.map(([key, value]) => ` ${key}=${valueText(value)}`).join("");
  const trace = typeof stack === "string" ? stack.split("\n").map((one) => `\n    ${safe(one.trim())}`) : [];
  return `${at} ${name} ${safe(String(msg ?? ""))}${told}${trace.join("")}\n`;
}

/** As it is where that can't be mistaken for two members. */
const valueText = (value: unknown): string =>
  safe(typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value));

const safe = (text: string): string => escapeControls(text);
