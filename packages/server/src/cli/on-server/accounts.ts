/** `signet account …` with `--server`: system accounts by API v1, whose records the commands print. */

import { readSwitch } from "../account/account-commands.ts";
import { readOverlap } from "../account/account-keys.ts";
import { definedOnly, optionalText, type RecordCall, requiredText, UsageError } from "../command.ts";
import { escapeControls, printResult } from "../output.ts";
import { pathOf, printRecord, printRecords } from "../remote/named-records.ts";
import { readExpiry } from "../times.ts";
import type { OnServer } from "./on-server.ts";

const pathOfAccount = (call: RecordCall): string => pathOf(call, "/system-accounts", "system account");

const SHOWN_ONCE = "Copy the secret key now: Signet can't show it again.";

const setEnabled =
  (enabled: boolean): OnServer =>
  async (call) =>
    printRecord(
      call,
      await call.api.send("PATCH", pathOfAccount(call), { enabled }),
      enabled ? "Enabled." : "Disabled.",
    );

const permission =
  (method: "PUT" | "DELETE", done: string): OnServer =>
  async (call) => {
    const path = pathOfAccount(call);
    const application = encodeURIComponent(requiredText(call.values, "app"));
    await call.api.send(method, `${path}/permissions/${application}`);
    return printRecord(call, await call.api.read(path), done);
  };

export const accountsOnServer: Readonly<Record<string, OnServer>> = {
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
  "account create": async (call) => {
    const { values } = call;
    const made = await call.api.send("POST", "/system-accounts", {
      applicationId: requiredText(values, "app"),
      name: requiredText(values, "name"),
      administrator: values.administrator === true,
      requireStrictSignature: values.strict === true,
      allowEndUserAddress: values["allow-end-user-address"] === true,
    });
    return printRecord(call, made, SHOWN_ONCE);
  },
  "account update": async (call) => {
    const { values } = call;
    const patch = definedOnly({
      name: optionalText(values, "name"),
      requireStrictSignature: readSwitch(values, "strict", "no-strict"),
      allowEndUserAddress: readSwitch(values, "allow-end-user-address", "no-end-user-address"),
    });
    if (Object.keys(patch).length === 0) throw new UsageError("nothing to change: name an option");
    return printRecord(call, await call.api.send("PATCH", pathOfAccount(call), patch), "Changed.");
  },
  "account rotate": async (call) => {
    const { values } = call;
    const expiresAt = readExpiry(optionalText(values, "expires"), Date.now);
    const body = definedOnly({
      label: optionalText(values, "label"),
      expiresAt: expiresAt === null ? undefined : new Date(expiresAt).toISOString(),
      expireOthersInSeconds: readOverlap(optionalText(values, "expire-others-in")),
    });
    return printRecord(call, await call.api.send("POST", `${pathOfAccount(call)}/keys`, body), SHOWN_ONCE);
  },
  "account revoke-key": async (call) => {
    const key = requiredText(call.values, "key").toLowerCase();
    await call.api.send("DELETE", `${pathOfAccount(call)}/keys/${encodeURIComponent(key)}`);
    return printResult(call, { publicKey: key, revoked: true }, () => ["Key revoked."]);
  },
  "account grant": permission("PUT", "Permission granted."),
  "account withdraw": permission("DELETE", "Permission withdrawn."),
  "account disable": setEnabled(false),
  "account enable": setEnabled(true),
  // Unasked, as on the database.
  "account delete": async (call) => {
    const path = pathOfAccount(call);
    const { id, name } = await call.api.read(path);
    await call.api.send("DELETE", path);
    return printResult(call, { id, deleted: true }, () => [escapeControls(`Deleted "${name}".`)]);
  },
};
