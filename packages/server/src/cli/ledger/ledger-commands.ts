/** `signet ledger …`: the state of an organisation's ledger of signatures, its witnesses, and looking at any ledger from outside. */
import { type Command, limitOption, requiredText } from "../command.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";
import { ledgerMonitor, ledgerVerify } from "./ledger-verify.ts";

export const ledgerCommands: readonly Command[] = [
  {
    name: "ledger show",
    summary: "show the size, the newest checkpoint and the key of the ledger",
    runByApi: async (call) => printRecord(call, await call.api.read("/ledger")),
  },
  {
    name: "ledger witness list",
    summary: "list the ledger's witnesses, with what came of the last call to each",
    usage: "--org ID [--limit COUNT] [--json]",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/ledger-witnesses", {
        columns: { ID: "id", URL: "url", COSIGNED: "cosignedSize", AT: "cosignedAt", ERROR: "lastError" },
        none: "There are no witnesses yet: signet ledger witness add --org … --url … --key …",
      }),
  },
  {
    name: "ledger witness add",
    summary: "add a witness (C2SP tlog-witness), which must know the ledger's key",
    usage: "--org ID --url URL --key KEY [--json]",
    options: {
      url: { value: "URL", help: "its submission prefix", required: true },
      key: { value: "KEY", help: "its verifier key, for cosignatures", required: true },
    },
    examples: [
      "signet ledger witness add --org 01998d6e-… --url https://witness.example --key 'witness.example+…'",
    ],
    runByApi: async (call) => {
      const [url, verifierKey] = [requiredText(call.values, "url"), requiredText(call.values, "key")];
      return printRecord(
        call,
        await call.api.send("POST", "/ledger-witnesses", { url, verifierKey }),
        "Added.",
      );
    },
  },
  {
    name: "ledger witness remove",
    summary: "remove a witness",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) =>
      deleteRecord(call, pathOf(call, "/ledger-witnesses", "witness"), { what: "witness", name: "url" }),
  },
  ledgerVerify,
  ledgerMonitor,
];
