/** A TPM that is open: commands sent again when it asks for that, refusals as errors that name the command. */
import { setTimeout as delay } from "node:timers/promises";
import { type Command, type CommandName, type Response, readResponse, writeCommand } from "./command.ts";
import type { TpmPlace, TpmTransport } from "./tpm-place.ts";
import { openTransport } from "./transport.ts";

/** The TPM answered with an error (TPM 2.0 Part 2 §6.6). */
export class TpmRefusal extends Error {
  readonly command: CommandName;
  /** TPM_RC. */
  readonly code: number;

  constructor(command: CommandName, code: number) {
    const number = `0x${code.toString(16).padStart(3, "0")}`;
    const meaning = meanings.get(withoutPosition(code));
    super(`the TPM refused TPM2_${command} (${number}${meaning === undefined ? "" : `: ${meaning}`})`);
    this.name = "TpmRefusal";
    this.command = command;
    this.code = code;
  }
}

/** What an operator may meet. */
const meanings: ReadonlyMap<number, string> = new Map([
  [0x100, "it was not started: the platform's firmware, or swtpm with --flags startup-clear, does that"],
  [0x101, "it has failed and needs a restart"],
  [0x120, "the command is disabled"],
  [0x143, "it does not have this command"],
  [0x08b, "a handle that is not there"],
  [0x08e, "a password is set where none is expected: of the owner's or the endorsement hierarchy"],
  [0x0a2, "a password is set where none is expected: of the owner's or the endorsement hierarchy"],
  [0x09d, "the policy does not fit"],
  [0x09f, "a key of another TPM, or of this one before it was cleared, or one that was changed"],
  [0x902, "its memory for keys is full: use /dev/tpmrm0, or flush what another program has left"],
  [0x903, "its memory for sessions is full: use /dev/tpmrm0, or flush what another program has left"],
  [0x921, "it is locked after too many wrong passwords"],
]);

/** Of an error of format 1, which names the handle, session or parameter too (TPM 2.0 Part 2 §6.6.2). */
const withoutPosition = (code: number): number => ((code & 0x80) === 0 ? code : code & 0xbf);

/** TPM_RC_YIELDED, TPM_RC_TESTING, TPM_RC_RETRY: nothing happened, the same command may be sent again. */
const AGAIN: ReadonlySet<number> = new Set([0x908, 0x90a, 0x922]);
const MOST_TRIES = 20;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

export interface Tpm {
  /** @throws TpmRefusal, TpmError, and what the transport throws */
  execute(command: Command): Promise<Response>;
}

/** @param wait between tries */
export function tpmOver(
  transport: TpmTransport,
  wait: (milliseconds: number) => Promise<unknown> = delay,
): Tpm {
  return {
    execute: async (command) => {
      const bytes = writeCommand(command);
      for (let tries = 1; ; tries += 1) {
        const response = readResponse(await transport.exchange(bytes), command);
        if (response.code === 0) return response;
        if (!AGAIN.has(response.code) || tries >= MOST_TRIES)
          throw new TpmRefusal(command.name, response.code);
        await wait(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)));
      }
    },
  };
}

/** Opens the TPM for one piece of work. Not kept open: without a resource manager nobody else could use it. */
export async function withTpm<Result>(place: TpmPlace, work: (tpm: Tpm) => Promise<Result>): Promise<Result> {
  const transport = await openTransport(place);
  try {
    return await work(tpmOver(transport));
  } finally {
    await transport.close();
  }
}
