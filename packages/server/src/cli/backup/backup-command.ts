/** `signet backup`: the whole installation in one file, while the service runs. */
import { version } from "../../config/version.ts";
import { requireRecipients, writeBackupFile } from "../../core/backup/backup-file.ts";
import { writeBackup } from "../../core/backup/write-backup.ts";
import type { Service } from "../../modules/open-service.ts";
import { type Call, type Command, jsonOption, repeatedText, requiredText, UsageError } from "../command.ts";
import { errorMessage, printResult } from "../output.ts";

export const backupCommand: Command = {
  name: "backup",
  summary: "write everything in the database into one file, as it is at this moment, while the service runs",
  usage: "--out FILE [--recipient AGE-KEY …] [--json]",
  options: {
    out: { value: "FILE", help: "new file, readable by its owner only; never replaces one", required: true },
    recipient: { value: "AGE-KEY", help: "encrypt it for this age public key (age1…)", multiple: true },
    ...jsonOption,
  },
  examples: ["signet backup --out signet.backup", "signet backup --out signet.backup --recipient age1…"],
  runWithService: backup,
};

async function backup(service: Service, call: Call): Promise<number> {
  const file = requiredText(call.values, "out");
  const recipients = repeatedText(call.values, "recipient");
  await requireRecipients(recipients).catch((error: unknown) => {
    throw new UsageError(`--recipient is no age public key: ${errorMessage(error)}`);
  });
  const counts = await writeBackupFile(file, recipients, (write) =>
    writeBackup(service, { version, now: service.clock() }, write),
  );
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const organisations = counts["organisation"] ?? 0;
  const isEncrypted = recipients.length > 0;
  return printResult(call, { file, rows, organisations, encrypted: isEncrypted }, () => [
    `${file} has ${rows} rows of ${organisations} organisations${isEncrypted ? ", encrypted" : ""}.`,
    "It has no master key: keep a copy of that elsewhere, a restore needs both.",
  ]);
}
