/** System accounts and signing keys with `--server`, and the table of all commands that can do without the database. */
import type { Command, RecordCall } from "../command.ts";
import { applicationsOnServer } from "./applications-on-server.ts";
import { deleteRecord, pathOf, printRecord, printRecords } from "./named-records.ts";
import { usersOnServer } from "./users-on-server.ts";

type OnServer = (call: RecordCall) => Promise<number>;

const pathOfAccount = (call: RecordCall): string => pathOf(call, "/system-accounts", "system account");

const others: Readonly<Record<string, OnServer>> = {
  "account list": (call) =>
    printRecords(call, "/system-accounts", {
      columns: {
        ID: "id",
        NAME: "name",
        APPLICATION: "applicationId",
        ENABLED: "enabled",
        CREATED: "createdAt",
      },
      none: "The organisation has no system accounts yet: signet account create --org … --app … --name …",
    }),
  "account show": async (call) => printRecord(call, await call.api.read(pathOfAccount(call))),
  "account delete": (call) =>
    deleteRecord(call, pathOfAccount(call), { what: "system account", name: "name" }),
  "keys list": (call) =>
    printRecords(call, "/signing-keys", {
      columns: { KID: "kid", ALG: "alg", STATE: "state", "ACTIVE FROM": "activeFrom", RETIRES: "retireAt" },
      none: "There are no signing keys.",
    }),
};

const onServer: Readonly<Record<string, OnServer>> = { ...usersOnServer, ...applicationsOnServer, ...others };

/** The names of the table, for the test that each is a command. */
export const namesOnServer: readonly string[] = Object.keys(onServer);

export const withServer = (command: Command): Command => {
  const atServer = onServer[command.name];
  return atServer === undefined ? command : { ...command, atServer };
};
