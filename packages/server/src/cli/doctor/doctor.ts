/** `signet doctor`: checks the installation without changing it, and suggests remedies. */
import type { Config } from "../../config/config.ts";
import { verifySmtp } from "../../core/mail/smtp.ts";
import { type Call, type Command, jsonOption } from "../command.ts";
import { errorMessage } from "../output.ts";
import { mtlsCertificateCheck } from "./check-certificate.ts";
import { type Check, clockCheck, configurationChecks, fail, note, ok } from "./check-configuration.ts";
import { databaseChecks } from "./check-database.ts";
import { dataFolderCheck, masterKeyCheck } from "./check-files.ts";

export const doctorCommand: Command = {
  name: "doctor",
  summary: "check configuration, data folder, keys, database, clock and mail, and suggest remedies",
  usage: "[--json]",
  options: jsonOption,
  examples: ["signet doctor", "signet doctor --json"],
  run: async (call) => report(call, await examine(call.config)),
  runMisconfigured: (faults, call) =>
    report(
      call,
      faults.map((fault) => fail("configuration", fault, "Correct it and run signet doctor again.")),
    ),
};

async function examine(config: Config): Promise<Check[]> {
  const { check: keyCheck, keys } = await masterKeyCheck(config);
  return [
    ...configurationChecks(config),
    await dataFolderCheck(config),
    keyCheck,
    ...(await databaseChecks(config, keys)),
    clockCheck(Date.now()),
    ...(await mtlsCertificateCheck(config, Date.now())),
    await mailCheck(config),
  ];
}

/** @returns 1 when a check failed */
function report({ values, io }: Omit<Call, "config">, checks: readonly Check[]): number {
  const failed = checks.filter(({ level }) => level === "fail").length;
  if (values.json) {
    io.print(JSON.stringify({ ok: failed === 0, checks }));
    return failed === 0 ? 0 : 1;
  }
  const width = Math.max(...checks.map(({ subject }) => subject.length));
  for (const { level, subject, message, remedy } of checks) {
    io.print(`${level.padEnd(4)}  ${subject.padEnd(width)}  ${message}`);
    if (remedy !== undefined) io.print(`${" ".repeat(width + 8)}-> ${remedy}`);
  }
  const warned = checks.filter(({ level }) => level === "warn").length;
  io.print("");
  if (failed > 0) io.print(failed === 1 ? "1 check failed." : `${failed} checks failed.`);
  else io.print(warned === 0 ? "All checks passed." : `No check failed. Warnings: ${warned}.`);
  return failed === 0 ? 0 : 1;
}

export async function mailCheck({ mail }: Config): Promise<Check> {
  if (!mail) {
    return note(
      "mail",
      "not configured: no password resets, address verification or notifications",
      "Set SMTP_URL and SIGNET_MAIL_FROM.",
    );
  }
  const { smtp, sender } = mail;
  const server = `${smtp.host}:${smtp.port}`;
  try {
    await verifySmtp(smtp);
    return ok("mail", `${server} is reachable; sender ${sender.address}`);
  } catch (error) {
    return fail("mail", `${server} failed: ${errorMessage(error)}`, "Check SMTP_URL and the mail server.");
  }
}
