/** `signet user import`: the users of another product move in, with the hashes of their passwords. */
import { type FirebaseHashing, readHashConfig } from "../../core/users/import/moving/firebase.ts";
import { importMovedUsers } from "../../core/users/import/moving/import-moved-users.ts";
import { movingLimits } from "../../core/users/import/moving/moved-user.ts";
import {
  type MovedUsers,
  type MovingFormat,
  movingFormats,
  readMovedUsers,
} from "../../core/users/import/moving/read-moved-users.ts";
import { InvalidUser } from "../../core/users/users.ts";
import {
  type Command,
  choice,
  type OrganisationCall,
  optionalText,
  requiredText,
  UsageError,
  type Values,
} from "../command.ts";
import { escapeControls, printResult, readOptionFile } from "../output.ts";
import { OPERATOR } from "../with-service.ts";

const MAX_CONFIG_BYTES = 4_096;

export const userImport: Command = {
  name: "user import",
  summary:
    "create the users of a file with the password hashes of another product: all or none, with --server of each 1,000",
  usage: "--org ID --file FILE --format FORMAT [--hash-config FILE] [--json]",
  options: {
    file: { value: "FILE", help: "the users", required: true },
    format: {
      value: "FORMAT",
      help: `${movingFormats.join(", ")}; jsonl and csv have email, firstname, surname, emailVerified, passwordHash`,
      required: true,
    },
    "hash-config": { value: "FILE", help: "firebase: the password hash parameters that its console shows" },
  },
  examples: [
    "signet user import --org 01998d6e-… --file realm-export.json --format keycloak",
    "signet user import --org 01998d6e-… --file users.json --format firebase --hash-config hash-config.txt",
  ],
  runInOrganisation: async (call) => {
    const read = readImportFile(call.values);
    const orgId = call.organisation.id;
    const done =
      read.failed.length > 0
        ? { created: 0, skipped: 0 }
        : await importMovedUsers(call.service, { orgId, users: read.users, actor: OPERATOR }).catch(explain);
    return printImport(call, read, done);
  },
};

/** The file of the options. @throws UsageError, Error naming the file */
export function readImportFile(values: Values): MovedUsers {
  const format = choice("format", requiredText(values, "format"), movingFormats);
  const hashing = readHashing(values, format);
  return readOptionFile("file", requiredText(values, "file"), movingLimits.bytes, (bytes) =>
    readMovedUsers(format, bytes, hashing),
  );
}

/** Of `--hash-config`. @throws UsageError */
function readHashing(values: Values, format: MovingFormat): FirebaseHashing | undefined {
  const file = optionalText(values, "hash-config");
  if (file === undefined) return undefined;
  if (format !== "firebase") throw new UsageError("--hash-config belongs to --format firebase");
  return readOptionFile("hash-config", file, MAX_CONFIG_BYTES, (bytes) => readHashConfig(bytes.toString()));
}

export interface Imported {
  readonly created: number;
  readonly skipped: number;
}

export function printImport(
  call: Pick<OrganisationCall, "io" | "values">,
  { failed, ...read }: MovedUsers,
  done: Imported,
): number {
  const ignored = [...read.ignored].map(([what, count]) => ({ what, users: count }));
  const document = { ...done, failed, ...(ignored.length > 0 ? { ignored } : {}) };
  printResult(call, document, () => [
    ...(failed.length > 0
      ? [...failed.map(({ line, reason }) => escapeControls(`${line}: ${reason}`)), "Nothing was imported."]
      : [`Created ${done.created} users, skipped ${done.skipped} that the organisation has already.`]),
    ...ignored.map(({ what, users: count }) => escapeControls(`Not taken over: ${what} (${count})`)),
  ]);
  return failed.length > 0 ? 1 : 0;
}

function explain(error: unknown): never {
  if (!(error instanceof InvalidUser)) throw error;
  throw new Error("somebody has created one of these users meanwhile: nothing was imported, run it again");
}
