/** `signet app …`, `secret …`, `scope …`, `consent …`, `preauth …` and others with `--server`: by API v1, whose records they print. */
import { accessModes } from "../../core/applications/application.ts";
import { readChangedSettings, readNewSettings, readResetMembers } from "../app/app-settings.ts";
import {
  choice,
  definedOnly,
  optionalText,
  type RecordCall,
  repeatedText,
  requiredText,
  UsageError,
} from "../command.ts";
import { printResult } from "../output.ts";
import { readScopeContent } from "../scope/scope-commands.ts";
import { readExpiry } from "../times.ts";
import { requireArgument } from "../with-service.ts";
import {
  deleteRecord,
  type Identified,
  pathOf,
  printRecord,
  printRecords,
  userPathOf,
} from "./named-records.ts";

type OnServer = (call: RecordCall) => Promise<number>;

function pathOfApp({ positionals: [positional], values }: RecordCall): string {
  if (positional !== undefined && values.app !== undefined)
    throw new UsageError("give the application's ID as argument or with --app, not both");
  return `/applications/${encodeURIComponent(positional ?? requiredText(values, "app"))}`;
}

/** What a stack prints is filled in from the database. */
function refuseStack({ values }: RecordCall): void {
  if (values.for !== undefined) throw new UsageError("--for works on the database alone");
}

const changeApp = async (call: RecordCall, patch: object, done: string): Promise<number> =>
  printRecord(call, await call.api.send("PATCH", pathOfApp(call), patch), done);

const setAssigned =
  (method: "PUT" | "DELETE", done: string): OnServer =>
  async (call) => {
    const userPath = await userPathOf(call);
    await call.api.send(method, `${pathOfApp(call)}${userPath}`);
    const permId = decodeURIComponent(userPath.slice("/users/".length));
    return printResult(call, { permId, assigned: method === "PUT" }, () => [done]);
  };

const applications: Readonly<Record<string, OnServer>> = {
  "app list": (call) =>
    printRecords(call, "/applications", {
      columns: {
        "CLIENT ID": "id",
        NAME: "name",
        TYPE: "clientType",
        ENABLED: "enabled",
        CREATED: "createdAt",
      },
      none: "The organisation has no applications yet: signet app create --org … --name … --type …",
    }),
  "app show": async (call) => printRecord(call, await call.api.read(pathOfApp(call))),
  "app create": async (call) => {
    refuseStack(call);
    const [name, clientType] = [requiredText(call.values, "name"), requiredText(call.values, "type")];
    const body = { ...readNewSettings(call.values), name, clientType: clientType.toLowerCase() };
    const made = await call.api.send("POST", "/applications", body);
    return printRecord(
      call,
      made,
      made["clientSecret"] ? "Copy the secret now: Signet can't show it again." : undefined,
    );
  },
  "app update": async (call) => {
    refuseStack(call);
    const unset = readResetMembers(call.values).map((member) => [member, null] as const);
    const name = definedOnly({ name: optionalText(call.values, "name") });
    const patch = { ...Object.fromEntries(unset), ...readChangedSettings(call.values), ...name };
    if (Object.keys(patch).length === 0) throw new UsageError("nothing to change: give at least one option");
    return changeApp(call, patch, "Changed.");
  },
  "app disable": (call) => {
    const enabled = call.values.enable === true;
    return changeApp(call, { enabled }, enabled ? "Enabled." : "Disabled.");
  },
  "app delete": (call) => deleteRecord(call, pathOfApp(call), { what: "application", name: "name" }),
  "app access": (call) => {
    const access = choice("access", requiredText(call.values, "access"), accessModes);
    return changeApp(
      call,
      { access },
      access === "everyone" ? "Open to everyone." : "Open to assigned users.",
    );
  },
  "app assign": setAssigned("PUT", "Assigned."),
  "app unassign": setAssigned("DELETE", "No longer assigned."),
  "secret create": async (call) => {
    const expiresAt = readExpiry(optionalText(call.values, "expires"), Date.now);
    const body = definedOnly({
      label: optionalText(call.values, "label"),
      expiresAt: expiresAt === null ? undefined : new Date(expiresAt).toISOString(),
    });
    const secret = await call.api.send("POST", `${pathOfApp(call)}/secrets`, body);
    return printRecord(call, secret, "Copy the secret now: Signet can't show it again.");
  },
  "secret revoke": async (call) => {
    const id = requiredText(call.values, "id");
    await call.api.send("DELETE", `${pathOfApp(call)}/secrets/${encodeURIComponent(id)}`);
    return printResult(call, { id, revoked: true }, () => ["Revoked."]);
  },
};

async function pathOfScope(call: RecordCall): Promise<string> {
  const which = requireArgument(call, "the NAME of the scope");
  const { items } = await call.api.list<Identified>("/scopes");
  const scope = items.find(({ id, name }) => name === which || id === which.toLowerCase());
  if (!scope) throw new Error(`there is no scope "${which}" in this organisation`);
  return `/scopes/${scope.id}`;
}

const scopes: Readonly<Record<string, OnServer>> = {
  "scope list": (call) =>
    printRecords(call, "/scopes", {
      columns: {
        ID: "id",
        NAME: "name",
        "DISPLAY NAME": "displayName",
        CLAIMS: "claims",
        SENSITIVE: "sensitive",
      },
      none: "No custom scopes yet: signet scope create --org … --name … --display-name …",
    }),
  "scope create": async (call) => {
    const body = { ...readScopeContent(call.values), name: requiredText(call.values, "name") };
    return printRecord(call, await call.api.send("POST", "/scopes", body));
  },
  "scope update": async (call) =>
    printRecord(call, await call.api.send("PATCH", await pathOfScope(call), readScopeContent(call.values))),
  "scope delete": async (call) => {
    const path = await pathOfScope(call);
    await call.api.send("DELETE", path);
    return printResult(call, { id: path.slice("/scopes/".length), deleted: true }, () => ["Deleted."]);
  },
};

const grantOf = ({ values }: RecordCall) => ({
  clientId: requiredText(values, "app"),
  scopes: repeatedText(values, "scope"),
});

const grantList =
  (path: string, none: string, ...conditions: readonly string[]): OnServer =>
  (call) => {
    const app = optionalText(call.values, "app");
    return printRecords(call, path, {
      query: {
        filter:
          [...conditions, ...(app === undefined ? [] : [`clientId eq ${JSON.stringify(app)}`])].join(
            " and ",
          ) || undefined,
      },
      columns: { ID: "id", KIND: "kind", APPLICATION: "clientId", USER: "userId", SCOPES: "scopes" },
      none,
    });
  };

const ended =
  (collection: string, what: string, done: string): OnServer =>
  async (call) => {
    const path = pathOf(call, collection, what);
    await call.api.send("DELETE", path);
    return printResult(
      call,
      { id: decodeURIComponent(path.slice(collection.length + 1)), deleted: true },
      () => [done],
    );
  };

const consents: Readonly<Record<string, OnServer>> = {
  "consent grant-organisation": async (call) =>
    printRecord(call, await call.api.send("POST", "/consents", grantOf(call)), "Granted for all users."),
  "consent list": grantList("/consents", "There are no such consents.", "not (revokedAt pr)"),
  "consent revoke": ended("/consents", "consent", "Revoked."),
  "preauth create": async (call) =>
    printRecord(call, await call.api.send("POST", "/preauthorizations", grantOf(call)), "Pre-authorized."),
  "preauth list": grantList("/preauthorizations", "There are no such pre-authorizations."),
  "preauth delete": ended("/preauthorizations", "pre-authorization", "Deleted."),
};

export const applicationsOnServer: Readonly<Record<string, OnServer>> = {
  ...applications,
  ...scopes,
  ...consents,
};
