/** `signet-agent journal verify`: whether a journal is as it was written. */
import { verifyJournal } from "../journal/verify-journal.ts";
import { type Command, optionalText, UsageError } from "./command.ts";

export const journalVerifyCommand: Command = {
  name: "journal verify",
  summary: "check that nothing in a journal was changed, taken out or put in",
  usage: "FILE… [--head HASH]",
  options: {
    head: { type: "string", value: "HASH", help: "of the last entry, as the log or a copy elsewhere has it" },
  },
  mostPositionals: 1_000,
  run: async ({ values, positionals, io }) => {
    if (positionals.length === 0) throw new UsageError("the FILE is missing");
    const { first, last, entries, fault, isTorn } = await verifyJournal(positionals);
    if (fault) {
      io.print(`${fault.file}:${fault.line} ${fault.message}`);
      return 1;
    }
    const head = optionalText(values, "head");
    if (head !== undefined && head !== last.hash) {
      io.print(
        `ends at ${last.hash}, not at ${head}: entries at the end are missing, or there are newer ones`,
      );
      return 1;
    }
    if (isTorn) io.print("The last line is torn: the machine went down while it was written");
    io.print(
      entries === 0
        ? "No entries"
        : `${entries} entries, ${first?.seq} to ${last.seq}, unbroken; the last hash is ${last.hash}`,
    );
    return 0;
  },
};
