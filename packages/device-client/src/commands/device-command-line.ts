/** `signet-device`: its commands and exit codes. */
import { type Program, runCommandLine } from "@signet/cli-runtime/run-command-line";
import { exitCodes } from "../exit-codes.ts";
import { isTransient } from "../renewal/renewal-daemon.ts";
import { attestCommand } from "./attest-command.ts";
import { caCommand } from "./ca-command.ts";
import { enrollCommand } from "./enroll-command.ts";
import { renewCommand } from "./renew-command.ts";
import type { DeviceIo } from "./settings.ts";
import { statusCommand } from "./status-command.ts";
import { tokenCommand } from "./token-command.ts";

const deviceProgram: Program<DeviceIo> = {
  name: "signet-device",
  summary: "enrols this machine with Signet, renews its certificate and gets tokens bound to it",
  commands: [enrollCommand, statusCommand, renewCommand, tokenCommand, attestCommand, caCommand],
  exitCodesHelp:
    "Exit codes: 0 success; 1 refused or failed; 2 usage error; 3 device revoked; 4 certificate expired;\n" +
    "5 not enrolled; 6 service unavailable, try again later.",
  exitCodeOf: (error) => (isTransient(error) ? exitCodes.tryLater : exitCodes.failed),
};

export const runDeviceCommandLine = (args: readonly string[], io: DeviceIo): Promise<number> =>
  runCommandLine(deviceProgram, args, io);
