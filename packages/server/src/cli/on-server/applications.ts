/** `signet app …`, `secret …`, `scope …`, `consent …`, `preauth …` and others with `--server`: by API v1, whose records they print. */
import { type ApplicationSettings, accessModes } from "../../core/applications/application.ts";
import { readClientType } from "../app/app-create.ts";
import { readChangedSettings, readNewSettings, readResetMembers } from "../app/app-settings.ts";
import { type ChosenStack, newSettingsOf, readStack, stackOutput } from "../app/app-stack.ts";
import { requireClientType, stackSettings } from "../app/app-update.ts";
import {
  choice,
  definedOnly,
  optionalText,
  type RecordCall,
  repeatedText,
  requiredText,
  UsageError,
} from "../command.ts";
import { escapeControls, printResult } from "../output.ts";
import type { Wire } from "../remote/api-types.ts";
import {
  deleteRecord,
  type Identified,
  pathOf,
  printRecord,
  printRecords,
  userPathOf,
} from "../remote/named-records.ts";
import { readScopeContent } from "../scope/scope-commands.ts";
import { readExpiry } from "../times.ts";
import { requireArgument } from "../with-service.ts";
import type { OnServer } from "./on-server.ts";

function pathOfApp({ positionals: [positional], values }: RecordCall): string {
  if (positional !== undefined && values.app !== undefined)
    throw new UsageError("give the application's ID as argument or with --app, not both");
  return `/applications/${encodeURIComponent(positional ?? requiredText(values, "app"))}`;
}

/** `--for`, and what its settings are filled in from. */
interface StackOnServer {
  readonly chosen: ChosenStack;
  readonly issuer: string;
}

/** Read before anything is made: its secret is shown once. */
async function readStackOnServer({ api, values }: RecordCall): Promise<StackOnServer | undefined> {
  const chosen = readStack(values);
  return chosen && { chosen, issuer: await api.issuer() };
}

function printApplication(
  call: RecordCall,
  record: Wire,
  done: string | undefined,
  stack: StackOnServer | undefined,
): number {
  const application = {
    ...{ id: String(record["id"]), orgId: call.api.orgId },
    settings: record as unknown as ApplicationSettings,
  };
  const { issuer = "", chosen } = stack ?? {};
  const baseUrl = issuer.slice(0, issuer.lastIndexOf("/oauth/"));
  const { clientSecret } = record as { readonly clientSecret?: string };
  const { document, lines } = stackOutput(chosen, application, baseUrl, clientSecret);
  if (call.values.json) return printRecord(call, { ...record, ...document });
  printRecord(call, record, done);
  for (const line of lines) call.io.print(line.split("\n").map(escapeControls).join("\n"));
  return 0;
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

async function changesForStack(call: RecordCall, chosen: ChosenStack): Promise<Wire> {
  const before = await call.api.read<Wire & Pick<ApplicationSettings, "redirectUris" | "allowedScopes">>(
    pathOfApp(call),
  );
  requireClientType(chosen, { name: String(before["name"]), clientType: String(before["clientType"]) });
  return stackSettings(before, chosen);
}

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
    const { values } = call;
    const stack = await readStackOnServer(call);
    const chosen = stack?.chosen;
    const name = chosen ? (optionalText(values, "name") ?? chosen.stack.title) : requiredText(values, "name");
    const clientType = readClientType(values, chosen);
    const body = { ...newSettingsOf(chosen), ...readNewSettings(values), name, clientType };
    const made = await call.api.send("POST", "/applications", body);
    const once = made["clientSecret"] ? "Copy the secret now: Signet can't show it again." : undefined;
    return printApplication(call, made, once, stack);
  },
  "app update": async (call) => {
    const stack = await readStackOnServer(call);
    const ofStack = stack ? await changesForStack(call, stack.chosen) : {};
    const unset = readResetMembers(call.values).map((member) => [member, null] as const);
    const name = definedOnly({ name: optionalText(call.values, "name") });
    const patch = { ...ofStack, ...Object.fromEntries(unset), ...readChangedSettings(call.values), ...name };
    if (Object.keys(patch).length === 0) throw new UsageError("nothing to change: give at least one option");
    return printApplication(call, await call.api.send("PATCH", pathOfApp(call), patch), "Changed.", stack);
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
  "app assigned": (call) =>
    printRecords(call, `${pathOfApp(call)}/users`, {
      columns: { ID: "id", EMAIL: "email", "ASSIGNED BY": "createdBy", ASSIGNED: "createdAt" },
      none: "No users are assigned yet: signet app assign ID --org … --email …",
    }),
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
