/** The table of all commands that can do without the database, and why the others can't. */
import type { Command } from "../command.ts";
import { accountsOnServer } from "./accounts.ts";
import { applicationsOnServer } from "./applications.ts";
import { auditOnServer } from "./audit.ts";
import { deviceTrustOnServer } from "./device-trust.ts";
import { devicesOnServer } from "./devices.ts";
import type { OnServer } from "./on-server.ts";
import { organisationsOnServer } from "./organisations.ts";
import { signingOnServer } from "./signing.ts";
import { usersOnServer } from "./users.ts";

const onServer: Readonly<Record<string, OnServer>> = {
  ...usersOnServer,
  ...applicationsOnServer,
  ...accountsOnServer,
  ...signingOnServer,
  ...devicesOnServer,
  ...deviceTrustOnServer,
  ...organisationsOnServer,
  ...auditOnServer,
};

const onlyHere: Readonly<Record<string, string>> = {
  migrate: "changes the database itself",
  doctor: "checks the settings, files and database of this machine",
  distribute: "changes how the database spreads its tables",
  "config show": "shows the settings of this machine",
  "operator create": "makes operators at the database, so that no token can",
  "master-key rotate": "needs the master key and the database",
  "master-key wrap": "needs the master key",
  backup: "needs the database and the master key",
  restore: "writes the database and the master key",
  "audit verify": "needs the master key, which proves the chain",
};

/** The names of both tables, for the test that each is a command. */
export const namesOnServer: readonly string[] = Object.keys(onServer);
export const namesOnlyHere: readonly string[] = Object.keys(onlyHere);

export function withServer(command: Command): Command {
  const [atServer, reason] = [onServer[command.name], onlyHere[command.name]];
  if (atServer !== undefined) return { ...command, atServer };
  return reason === undefined ? command : { ...command, onlyHere: reason };
}
