/** Where the audit stream goes: standard output, a file, or a receiver that is called. */
import { constants, type FileHandle, open } from "node:fs/promises";
import type { Outbound } from "../../outbound/outbound.ts";

export type StreamTarget =
  | { readonly kind: "stdout" }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "https"; readonly url: string; readonly authorization?: string };

/** Resolves once the lines are safe with the receiver. @throws Error when they may not be */
export type SendLines = (orgId: string, lines: readonly string[]) => Promise<void>;

/** The receiver is there, and does not take these lines: others it may. */
export class RefusedLines extends Error {
  override readonly name = "RefusedLines";
}

/** RFC 9110 §15.5.1, §15.5.14, §15.5.21; other answers are about the call. */
const REFUSED = [400, 413, 422];

export interface DestinationDeps {
  readonly outbound: Outbound;
  /** For tests. */
  readonly stdout?: Pick<NodeJS.WriteStream, "write">;
}

export function openDestination(target: StreamTarget, deps: DestinationDeps): SendLines {
  if (target.kind === "stdout") return toOutput(deps.stdout ?? process.stdout);
  if (target.kind === "file") return (_orgId, lines) => appendToFile(target.path, lines);
  return toReceiver(target, deps.outbound);
}

/** Line by line: short writes reach a pipe whole, beside those of other processes (POSIX: PIPE_BUF). */
const toOutput =
  (stdout: Pick<NodeJS.WriteStream, "write">): SendLines =>
  async (_orgId, lines) => {
    for (const line of lines)
      await new Promise<void>((resolve, reject) => {
        stdout.write(line, (error) => (error ? reject(error) : resolve()));
      });
  };

const NEW_LINE = 10;

/** Opened each time, so that whoever rotates logs may move it away. */
async function appendToFile(path: string, lines: readonly string[]): Promise<void> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const file = await open(path, flags, 0o600);
  try {
    // Also one that somebody else has made.
    await file.chmod(0o600);
    const begin = (await endsInLine(file)) ? "" : "\n";
    await file.appendFile(begin + lines.join(""));
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** A write that was cut off, by a full disk or a crash, leaves half a line; the next one must not be joined to it. */
async function endsInLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === NEW_LINE;
}

const toReceiver =
  ({ url, authorization }: Extract<StreamTarget, { kind: "https" }>, outbound: Outbound): SendLines =>
  async (orgId, lines) => {
    const { status } = await outbound.call(orgId, url, {
      method: "POST",
      headers: {
        "content-type": "application/x-ndjson; charset=utf-8",
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: lines.join(""),
    });
    if (REFUSED.includes(status))
      throw new RefusedLines(`the receiver answered ${status} to events of organisation ${orgId}`);
    if (status < 200 || status > 299) throw new Error(`the receiver answered ${status}`);
  };
