/** Records that the arguments of a command name, by API v1; and what commands on them print. */
import { type Options, optionalText, type RecordCall, repeatedText, UsageError } from "../command.ts";
import { confirmDeletion } from "../confirm-deletion.ts";
import { escapeControls, printList, printResult, fields as textFields } from "../output.ts";
import { readLimit, requireArgument } from "../with-service.ts";
import type { Wire } from "./api-types.ts";

export interface Identified extends Wire {
  readonly id: string;
}

/** `/groups/{id}` of the positional argument. @param what e.g. `group` */
export const pathOf = (call: RecordCall, collection: string, what: string): string =>
  `${collection}/${encodeURIComponent(requireArgument(call, `the ID of the ${what}`))}`;

/** A list, to the end or to `--limit`. @param columns member by heading */
export const printRecords = (
  call: RecordCall,
  path: string,
  view: {
    readonly columns: Readonly<Record<string, string>>;
    readonly none: string;
    readonly query?: Readonly<Record<string, string | undefined>>;
  },
): Promise<number> => {
  const query = Object.entries(view.query ?? {}).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return printList(
    call,
    call.api.list(path, { limit: readLimit(call.values), query: Object.fromEntries(query) }),
    {
      record: (item: Wire) => item,
      columns: Object.fromEntries(
        Object.entries(view.columns).map(([heading, member]) => [
          heading,
          (item: Wire) => cell(item[member]),
        ]),
      ),
      none: view.none,
    },
  );
};

/** @param done a sentence about what was done to it */
export const printRecord = (call: RecordCall, record: Wire, done?: string): number =>
  printResult(call, record, () => [
    ...(done === undefined ? [] : [escapeControls(done)]),
    ...textFields(
      Object.fromEntries(
        Object.entries(record).flatMap(([name, value]) => (isUnset(value) ? [] : [[name, cell(value)]])),
      ),
    ),
  ]);

const isUnset = (value: unknown): boolean => value === null || value === undefined || value === "";

function cell(value: unknown): string {
  if (isUnset(value)) return "";
  if (Array.isArray(value))
    return value.every((one) => typeof one === "string") ? value.join(" ") : JSON.stringify(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Asks first. @param name the member that the question shows */
export async function deleteRecord(
  call: RecordCall,
  path: string,
  { what, name }: { readonly what: string; readonly name: string },
): Promise<number> {
  const record = await call.api.read<Identified>(path);
  if (!(await confirmDeletion(call, escapeControls(`${what} "${cell(record[name])}" (${record.id})`))))
    return 1;
  await call.api.send("DELETE", path);
  return printResult(call, { id: record.id, deleted: true }, () => [
    escapeControls(`Deleted "${cell(record[name])}".`),
  ]);
}

export const searchOptions: Options = {
  search: { value: "WORDS", help: "only those with these words" },
  limit: { value: "COUNT", help: "maximum number of entries (default: all)" },
};
export const yesOption: Options = { yes: { help: "delete without asking" } };

/** The id of the user with the address. @throws Error when there is none */
export async function userIdOf({ api }: RecordCall, email: string): Promise<string> {
  const { items } = await api.list<Identified>("/users", {
    limit: 1,
    query: { filter: `email eq ${JSON.stringify(email)}` },
  });
  const [user] = items;
  if (!user) throw new Error(`there is no user "${email}" in this organisation`);
  return user.id;
}

/** The path of the user of `--id` or `--email`. @throws UsageError */
export async function userPathOf(call: RecordCall): Promise<string> {
  const [id, email] = [optionalText(call.values, "id"), optionalText(call.values, "email")];
  if ((id === undefined) === (email === undefined))
    throw new UsageError("either --id or --email is required");
  return `/users/${encodeURIComponent(id ?? (await userIdOf(call, email ?? "")))}`;
}

export interface Subject {
  readonly type: "user" | "group" | "application" | "systemAccount";
  readonly id: string;
}

export const memberOptions: Options = {
  user: { value: "ID", multiple: true, help: "user ID (PermId); repeatable" },
  email: { value: "ADDRESS", multiple: true, help: "user's email address; repeatable" },
  group: { value: "ID", multiple: true, help: "group ID; repeatable" },
};

/** Whom the options name. @param names the types by the option that has their ids. @throws UsageError when nobody */
export async function namedSubjects(
  call: RecordCall,
  names: Readonly<Record<string, Subject["type"]>>,
): Promise<Subject[]> {
  const { values } = call;
  const subjects: Subject[] = [];
  for (const email of repeatedText(values, "email"))
    subjects.push({ type: "user", id: await userIdOf(call, email) });
  for (const [option, type] of Object.entries(names))
    for (const id of repeatedText(values, option)) subjects.push({ type, id: id.toLowerCase() });
  if (subjects.length > 0) return subjects;
  const options = ["email", ...Object.keys(names)].map((name) => `--${name}`);
  throw new UsageError(`one of ${options.join(", ")} is required`);
}
