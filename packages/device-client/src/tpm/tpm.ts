/** An open TPM: repeats commands when it asks for that, and turns refusals into errors that name the command. */
import { setTimeout as delay } from "node:timers/promises";
import { type Command, type CommandName, type Response, readResponse, writeCommand } from "./command.ts";
import type { TpmLocation } from "./transport.ts";
import { openTransport, type TpmTransport } from "./transport.ts";

/** The TPM answered with an error (TPM 2.0 Part 2 §6.6). */
export class TpmRefusal extends Error {
  override name = "TpmRefusal";
  readonly command: CommandName;
  /** TPM_RC. */
  readonly code: number;

  constructor(command: CommandName, code: number) {
    const number = `0x${code.toString(16).padStart(3, "0")}`;
    const meaning = meanings.get(withoutPosition(code));
    super(`the TPM refused TPM2_${command} (${number}${meaning === undefined ? "" : `: ${meaning}`})`);
    this.command = command;
    this.code = code;
  }
}

const meanings: ReadonlyMap<number, string> = new Map([
  [0x100, "it was not started up: firmware does that, or swtpm with --flags startup-clear"],
  [0x101, "it is in failure mode and needs a restart"],
  [0x120, "the command is disabled"],
  [0x143, "it does not implement this command"],
  [0x08b, "no such handle"],
  [0x08e, "the owner or endorsement hierarchy has a password, which must be empty"],
  [0x0a2, "the owner or endorsement hierarchy has a password, which must be empty"],
  [0x09d, "the policy does not match"],
  [0x09f, "the key belongs to another TPM, was made before this one was cleared, or was changed"],
  [0x902, "out of memory for keys: use /dev/tpmrm0, or flush what another program left behind"],
  [0x903, "out of memory for sessions: use /dev/tpmrm0, or flush what another program left behind"],
  [0x921, "locked out after too many wrong passwords"],
]);

/** Format 1 errors also name the handle, session or parameter (TPM 2.0 Part 2 §6.6.2). */
const withoutPosition = (code: number): number => ((code & 0x80) === 0 ? code : code & 0xbf);

/** TPM_RC_YIELDED, TPM_RC_TESTING, TPM_RC_RETRY: nothing happened, the command may be repeated. */
const RETRY_CODES: ReadonlySet<number> = new Set([0x908, 0x90a, 0x922]);
const MAX_TRIES = 20;
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 500;

export interface Tpm {
  /** @throws TpmRefusal, TpmError, and what the transport throws */
  execute(command: Command): Promise<Response>;
}

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
        if (!RETRY_CODES.has(response.code) || tries >= MAX_TRIES)
          throw new TpmRefusal(command.name, response.code);
        await wait(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)));
      }
    },
  };
}

/** Opens the TPM for one piece of work only: without a resource manager, no other program could use it meanwhile. */
export async function withTpm<Result>(
  location: TpmLocation,
  work: (tpm: Tpm) => Promise<Result>,
): Promise<Result> {
  const transport = await openTransport(location);
  try {
    return await work(tpmOver(transport));
  } finally {
    await transport.close();
  }
}
