/** `signet invitation …`: people who are asked to come, and what became of it (connections.md §1). */
import { invitationStates } from "../../core/users/invitations/invitation-records.store.ts";
import type { Role } from "../../core/users/user.ts";
import {
  type Command,
  definedOnly,
  limitOption,
  optionalChoice,
  optionalText,
  type RecordCall,
  requiredText,
  UsageError,
} from "../command.ts";
import { readOptionFile } from "../output.ts";
import type { Wire } from "../remote/api-types.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";

const pathOfInvitation = (call: RecordCall): string => pathOf(call, "/invitations", "invitation");
const roles: readonly Role[] = ["Standard", "Administrator"];
const MAX_BYTES = 1024 * 1024;

export const invitationCommands: readonly Command[] = [
  {
    name: "invitation list",
    summary: "list invitations",
    usage: "--org ID [--state STATE] [--limit COUNT] [--json]",
    options: { state: { value: "STATE", help: invitationStates.join(", ") }, ...limitOption },
    runByApi: (call) => {
      const state = optionalChoice(call.values, "state", invitationStates);
      return printRecords(call, "/invitations", {
        query: { filter: state && `state eq "${state}"` },
        columns: { ID: "id", EMAIL: "email", ROLE: "role", STATE: "state", EXPIRES: "expiresAt" },
        none: "There are no such invitations.",
      });
    },
  },
  {
    name: "invitation show",
    summary: "show an invitation",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfInvitation(call))),
  },
  {
    name: "invitation create",
    summary: "invite somebody by email, or by a link that is printed once",
    usage:
      "--org ID --email ADDRESS [--firstname NAME] [--surname NAME] [--role ROLE] [--connection ID] [--expires-in SECONDS] [--no-email] [--json]",
    options: {
      email: { value: "ADDRESS", help: "whom", required: true },
      firstname: { value: "NAME", help: "first name" },
      surname: { value: "NAME", help: "surname" },
      role: { value: "ROLE", help: "standard (default) or administrator" },
      connection: { value: "ID", help: "identity provider where it is accepted" },
      "expires-in": { value: "SECONDS", help: "60 to 2592000 (default: 604800, 7 days)" },
      "no-email": { help: "no email is sent: the link is printed, once" },
    },
    runByApi: async (call) =>
      printRecord(call, await call.api.send<Wire>("POST", "/invitations", readInvitation(call)), "Invited."),
  },
  {
    name: "invitation resend",
    summary: "send another link, which works for 7 days; the one before ends",
    positionals: 1,
    runByApi: async (call) =>
      printRecord(call, await call.api.send<Wire>("POST", `${pathOfInvitation(call)}/resend`, {}), "Sent."),
  },
  {
    name: "invitation delete",
    summary: "withdraw an invitation: its link ends at once",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) => deleteRecord(call, pathOfInvitation(call), { what: "invitation", name: "email" }),
  },
  {
    name: "invitation batch",
    summary: "invite up to 1,000 people; what is wrong with one leaves the others",
    usage: "--org ID --file FILE [--json]",
    options: {
      file: {
        value: "FILE",
        help: "JSON: a list of people, with email, firstname, surname …",
        required: true,
      },
    },
    runByApi: async (call) => {
      const items = readOptionFile("file", requiredText(call.values, "file"), MAX_BYTES, (bytes) => {
        const read: unknown = JSON.parse(bytes.toString());
        if (!Array.isArray(read)) throw new Error("it must hold one JSON list");
        return read;
      });
      const answer = await call.api.send<{ results: ReadonlyArray<{ status: string }> }>(
        "POST",
        "/invitations/batch",
        { items },
      );
      const created = answer.results.filter(({ status }) => status === "created").length;
      printRecord(call, answer, `${created} of ${answer.results.length} invited.`);
      return created === answer.results.length ? 0 : 1;
    },
  },
];

/** @throws UsageError */
function readInvitation({ values }: RecordCall): Wire {
  const seconds = optionalText(values, "expires-in");
  if (seconds !== undefined && !/^\d{1,7}$/.test(seconds))
    throw new UsageError("--expires-in must be a number of seconds");
  return definedOnly({
    email: requiredText(values, "email"),
    firstname: optionalText(values, "firstname"),
    surname: optionalText(values, "surname"),
    role: optionalChoice(values, "role", roles),
    connectionId: optionalText(values, "connection"),
    expiresInSeconds: seconds === undefined ? undefined : Number(seconds),
    sendEmail: values["no-email"] === true ? false : undefined,
  });
}
