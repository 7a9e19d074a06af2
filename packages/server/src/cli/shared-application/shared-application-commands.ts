/** `signet shared-application …`: applications of other organisations, and the scopes they may have here (connections.md §7). */
import { type Command, limitOption, type RecordCall, repeatedText, UsageError } from "../command.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";

const path = (call: RecordCall): string => pathOf(call, "/shared-applications", "application");

export const sharedApplicationCommands: readonly Command[] = [
  {
    name: "shared-application list",
    summary: "list the applications of other organisations that are enabled",
    usage: "--org ID [--limit COUNT] [--json]",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/shared-applications", {
        columns: {
          "CLIENT ID": "id",
          NAME: "name",
          "PROVIDED BY": "organisationName",
          STATUS: "state",
          SCOPES: "scopes",
        },
        none: "No application of another organisation is enabled.",
      }),
  },
  {
    name: "shared-application show",
    summary: "show an application that is enabled, or offered to the organisation",
    usage: "CLIENT_ID --org ID [--json]",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(path(call))),
  },
  {
    name: "shared-application enable",
    summary: "enable an application of another organisation, or change the scopes it may have here",
    usage: "CLIENT_ID --org ID --scope SCOPE… [--json]",
    positionals: 1,
    options: {
      scope: { value: "SCOPE", multiple: true, help: "what it may have here; repeatable" },
    },
    examples: [
      "signet shared-application enable 01998d70-… --org 01998d6e-… --scope openid --scope profile --scope email",
    ],
    runByApi: async (call) => {
      const scopes = repeatedText(call.values, "scope");
      if (scopes.length === 0) throw new UsageError("--scope is required");
      return printRecord(call, await call.api.send("PUT", path(call), { scopes }), "Enabled.");
    },
  },
  {
    name: "shared-application withdraw",
    summary: "withdraw an application of another organisation: its tokens in this organisation end",
    usage: "CLIENT_ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) => deleteRecord(call, path(call), { what: "shared application", name: "name" }),
  },
];
