/** `signet-agent journal verify` */
import { optionalText, UsageError } from "@signet/cli-runtime/command";
import { verifyJournal } from "../journal/verify-journal.ts";
import type { AgentCommand } from "./options.ts";

export const journalVerifyCommand: AgentCommand = {
  name: "journal verify",
  summary: "verify that no journal entry was changed, removed or inserted",
  usage: "FILE… [--head HASH]",
  options: {
    head: {
      type: "string",
      value: "HASH",
      help: "hash of the last entry, from the log or a copy kept elsewhere",
    },
  },
  maxPositionals: 1_000,
  run: async ({ values, positionals, io }) => {
    if (positionals.length === 0) throw new UsageError("FILE is missing");
    const { first, last, entries, fault, isTorn } = await verifyJournal(positionals);
    if (fault) {
      io.print(`${fault.file}:${fault.line} ${fault.message}`);
      return 1;
    }
    const head = optionalText(values, "head");
    if (head !== undefined && head !== last.hash) {
      io.print(
        `the last hash is ${last.hash}, not ${head}: entries are missing at the end, or newer ones exist`,
      );
      return 1;
    }
    if (isTorn) io.print("The last line is incomplete: the machine went down while it was written");
    const range = `${entries} entries, ${first?.seq} to ${last.seq}`;
    io.print(entries === 0 ? "No entries" : `${range}: the chain is intact; last hash ${last.hash}`);
    return 0;
  },
};
