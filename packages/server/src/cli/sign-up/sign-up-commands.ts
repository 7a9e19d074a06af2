/** `signet sign-up …`: who may make an account, the terms that every user accepts, and sign-ups that wait for an administrator. */
import { signUpModes } from "../../core/organisations/sign-up-settings.ts";
import { signUpStates } from "../../core/sign-ups/sign-ups.store.ts";
import {
  type Command,
  choice,
  definedOnly,
  limitOption,
  optionalText,
  type RecordCall,
  repeatedText,
  UsageError,
} from "../command.ts";
import type { Wire } from "../remote/api-types.ts";
import { pathOf, printRecord, printRecords } from "../remote/named-records.ts";

const pathOfSignUp = (call: RecordCall): string => pathOf(call, "/sign-ups", "sign-up");

const act = (name: "approve" | "reject", done: string) => async (call: RecordCall) => {
  const reason = name === "reject" ? optionalText(call.values, "reason") : undefined;
  const record = await call.api.send<Wire>("POST", `${pathOfSignUp(call)}/${name}`, definedOnly({ reason }));
  return printRecord(call, record, `${String(record["email"])} ${done}.`);
};

export const signUpCommands: readonly Command[] = [
  {
    name: "sign-up show",
    summary: "show who may sign up, the terms and the groups of new users",
    usage: "--org ID [--json]",
    runByApi: async (call) => printRecord(call, await call.api.read("/sign-up")),
  },
  {
    name: "sign-up set",
    summary: "change who may sign up, the terms or the groups of new users",
    usage:
      "--org ID [--mode MODE] [--terms-version VERSION --terms-url URL | --no-terms] [--group ID]… [--no-groups] [--json]",
    options: {
      mode: { value: "MODE", help: signUpModes.join(", ") },
      "terms-version": { value: "VERSION", help: "every user is asked to accept a new version" },
      "terms-url": { value: "URL", help: "https address of the terms" },
      "no-terms": { help: "users accept no terms" },
      group: { value: "ID", multiple: true, help: "new users join this group; repeatable" },
      "no-groups": { help: "new users join no group" },
    },
    examples: [
      "signet sign-up set --org 01998d6e-… --mode approval",
      "signet sign-up set --org 01998d6e-… --terms-version 2026-11 --terms-url https://acme.example/terms",
    ],
    runByApi: async (call) => {
      const changes = readChanges(call);
      if (Object.keys(changes).length === 0)
        throw new UsageError("give at least one setting, e.g. --mode open; see signet sign-up set --help");
      const changed = await call.api.replace("/sign-up", (before) => ({ ...before, ...changes }));
      return printRecord(call, changed, "Changed.");
    },
  },
  {
    name: "sign-up list",
    summary: "list sign-ups that wait for approval",
    usage: "--org ID [--state STATE] [--limit COUNT] [--json]",
    options: {
      state: { value: "STATE", help: `${signUpStates.join(", ")} (default: waiting)` },
      ...limitOption,
    },
    runByApi: (call) =>
      printRecords(call, "/sign-ups", {
        query: { state: choice("state", optionalText(call.values, "state") ?? "waiting", signUpStates) },
        columns: { ID: "id", EMAIL: "email", FIRSTNAME: "firstname", SURNAME: "surname", SINCE: "createdAt" },
        none: "There are no such sign-ups.",
      }),
  },
  {
    name: "sign-up approve",
    summary: "approve a sign-up: its account is made, and the user is told by email",
    usage: "ID --org ID [--json]",
    positionals: 1,
    runByApi: act("approve", "has an account"),
  },
  {
    name: "sign-up reject",
    summary: "reject a sign-up; the person is told by email, without the reason",
    usage: "ID --org ID [--reason TEXT] [--json]",
    positionals: 1,
    options: { reason: { value: "TEXT", help: "for the audit log" } },
    runByApi: act("reject", "is rejected"),
  },
];

/** @throws UsageError */
function readChanges({ values }: RecordCall): Wire {
  const mode = optionalText(values, "mode");
  const [version, url] = [optionalText(values, "terms-version"), optionalText(values, "terms-url")];
  if ((version === undefined) !== (url === undefined))
    throw new UsageError("--terms-version and --terms-url go together");
  if (version !== undefined && values["no-terms"])
    throw new UsageError("either --terms-version or --no-terms");
  const groups = repeatedText(values, "group");
  if (groups.length > 0 && values["no-groups"]) throw new UsageError("either --group or --no-groups");
  return definedOnly({
    mode: mode === undefined ? undefined : choice("mode", mode, signUpModes),
    terms: values["no-terms"] ? null : version === undefined ? undefined : { version, url },
    groups: groups.length > 0 ? groups : values["no-groups"] ? [] : undefined,
  });
}
