/** `signet user …` with `--server`: the same commands by API v1, which print its records. */
import { generatePassword } from "../../core/passwords/password-hasher.ts";
import { definedOnly, optionalText, type RecordCall, requiredText, UsageError } from "../command.ts";
import { printResult } from "../output.ts";
import type { Wire } from "../remote/api-types.ts";
import { deleteRecord, printRecord, printRecords, userPathOf } from "../remote/named-records.ts";
import type { OnServer } from "./on-server.ts";
import { importUsers } from "./user-import.ts";
import { setAttributes, setProfile } from "./user-members.ts";

/** The policy is not known here: one that asks for more says so. */
const GENERATED = { passwordMinLength: 32 };

async function newPassword({ values, io }: RecordCall): Promise<{ password: string; shown: Wire }> {
  if (values.generate) {
    const password = generatePassword(GENERATED);
    return { password, shown: { password } };
  }
  const password = await io.readSecret("New password");
  if (password === "") throw new UsageError("a password is required: type it, pipe it in, or add --generate");
  return { password, shown: {} };
}

const roles: Readonly<Record<string, string>> = { standard: "Standard", administrator: "Administrator" };

function readPerson({ values }: RecordCall): Wire {
  const role = optionalText(values, "role");
  if (role !== undefined && !Object.hasOwn(roles, role.toLowerCase()))
    throw new UsageError("--role must be one of Standard, Administrator");
  return definedOnly({
    email: requiredText(values, "email"),
    firstname: optionalText(values, "firstname"),
    surname: optionalText(values, "surname"),
    phone: optionalText(values, "phone"),
    role: role === undefined ? undefined : roles[role.toLowerCase()],
  });
}

/** An act that a user's record has. @param done e.g. `is signed out everywhere` */
const act =
  (name: string, done: string): OnServer =>
  async (call) => {
    const user = await call.api.send("POST", `${await userPathOf(call)}/${name}`, {});
    return printRecord(call, user, `${String(user["email"])} ${done}.`);
  };

export const usersOnServer: Readonly<Record<string, OnServer>> = {
  "user list": (call) =>
    printRecords(call, "/users", {
      columns: {
        ID: "id",
        EMAIL: "email",
        FIRSTNAME: "firstname",
        SURNAME: "surname",
        ROLE: "role",
        STATE: "state",
      },
      none: "The organisation has no users yet: signet user create --org … --email …",
    }),
  "user create": async (call) => {
    const person = readPerson(call);
    const { password, shown } = await newPassword(call);
    const body = { ...person, password, emailVerified: call.values.verified === true };
    const user = { ...(await call.api.send("POST", "/users", body)), ...shown };
    return printRecord(call, user, `${String(person["email"])} has been created.`);
  },
  "user invite": async (call) => {
    const person = readPerson(call);
    const user = await call.api.send("POST", "/users", { ...person, sendInvitation: true });
    return printRecord(call, user, `${String(person["email"])} has been invited by email.`);
  },
  "user disable": (call) =>
    (call.values.enable === true ? act("enable", "has been enabled") : act("disable", "has been disabled"))(
      call,
    ),
  "user delete": async (call) => deleteRecord(call, await userPathOf(call), { what: "user", name: "email" }),
  "user sessions": async (call) =>
    printRecords(call, `${await userPathOf(call)}/sessions`, {
      columns: {
        ID: "id",
        SINCE: "createdAt",
        "LAST USED": "lastSeenAt",
        ENDS: "expiresAt",
        ADDRESS: "address",
        BOUND: "deviceBound",
      },
      none: "The user is signed in nowhere in this organisation.",
    }),
  "user sign-out": act("sign-out", "is signed out everywhere"),
  "user reset-factors": act("reset-factors", "no longer has a second factor"),
  "user set-password": async (call) => {
    const path = await userPathOf(call);
    const { password, shown } = await newPassword(call);
    const user = { ...(await call.api.send("POST", `${path}/reset-password`, { password })), ...shown };
    return printRecord(call, user, "The user has a new password.");
  },
  "user set-username": async (call) => {
    const username = optionalText(call.values, "username") ?? null;
    const user = await call.api.send("PATCH", await userPathOf(call), { username });
    return printResult(call, user, () => [
      username === null ? "The user no longer has a username." : `The user has the username ${username}.`,
    ]);
  },
  "user change-email": async (call) => {
    const email = requiredText(call.values, "new-email");
    const user = await call.api.send("POST", `${await userPathOf(call)}/change-email`, { email });
    return printRecord(call, user, `Sent a confirmation link to ${email}.`);
  },
  "user set-profile": setProfile,
  "user set-attributes": setAttributes,
  "user import": importUsers,
};
