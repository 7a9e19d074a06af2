/** `signet audit list` and `export` with `--server`: the audit log by API v1. */
import { isUuid } from "@signet/protocol/hash";
import { canonicalAddress } from "../../core/audit/ip-address.ts";
import { DEFAULT_LIMIT, readTimeOption, requireActions } from "../audit/audit-commands.ts";
import { choice, definedOnly, optionalText, type RecordCall, requiredText, UsageError } from "../command.ts";
import { formatTime } from "../output.ts";
import { printRecords, userIdOf } from "../remote/named-records.ts";
import { readLimit } from "../with-service.ts";
import type { OnServer } from "./on-server.ts";

const quoted = (text: string): string => JSON.stringify(text);

/** The options as a filter of the list (RFC 7644 §3.4.2.2). */
async function listFilter(call: RecordCall): Promise<string | undefined> {
  const { values } = call;
  for (const option of ["search", "text"])
    if (optionalText(values, option) !== undefined)
      throw new UsageError(`--${option} goes with audit export on a server, not with audit list`);
  const what = optionalText(values, "what");
  if (what !== undefined) requireActions(what);
  const [from, to] = [readTimeOption(values, "from"), readTimeOption(values, "to")];
  const [on, address] = [optionalText(values, "on"), optionalText(values, "address")];
  const conditions = [
    await actorCondition(call),
    what === undefined ? undefined : `action ${what.endsWith(".") ? "sw" : "eq"} ${quoted(what)}`,
    on === undefined ? undefined : `targetId eq ${quoted(on)}`,
    address === undefined ? undefined : `address eq ${quoted(canonicalAddress(address) ?? address)}`,
    from === undefined ? undefined : `at ge ${quoted(formatTime(from))}`,
    to === undefined ? undefined : `at lt ${quoted(formatTime(to))}`,
  ].filter((one) => one !== undefined);
  return conditions.length === 0 ? undefined : conditions.join(" and ");
}

async function actorCondition(call: RecordCall): Promise<string | undefined> {
  const who = optionalText(call.values, "who");
  if (who === undefined) return undefined;
  const id = who.includes("@") ? await userIdOf(call, who) : who.toLowerCase();
  if (isUuid(id)) return `actorId eq ${quoted(id)}`;
  const [type = "", ...rest] = id.split(":");
  const ofType = `actorType eq ${quoted(type)}`;
  return rest.length === 0 ? ofType : `${ofType} and actorId eq ${quoted(rest.join(":"))}`;
}

const list: OnServer = async (call) => {
  const filter = await listFilter(call);
  const limit = readLimit(call.values) ?? DEFAULT_LIMIT;
  return printRecords({ ...call, values: { ...call.values, limit: String(limit) } }, "/audit-events", {
    query: { filter },
    columns: {
      TIME: "at",
      ACTOR: "actorType",
      "ACTOR ID": "actorId",
      ACTION: "action",
      TARGET: "targetId",
      ADDRESS: "address",
      DETAILS: "details",
    },
    none: "No matching events.",
  });
};

const exportLog: OnServer = async ({ api, io, values }) => {
  const format = choice("format", requiredText(values, "format"), ["csv", "jsonl"]);
  const what = optionalText(values, "what");
  if (what !== undefined) requireActions(what);
  const [from, to] = [readTimeOption(values, "from"), readTimeOption(values, "to")];
  const query = definedOnly({
    format,
    search: optionalText(values, "search"),
    actor: optionalText(values, "who"),
    action: what,
    targetId: optionalText(values, "on"),
    address: optionalText(values, "address"),
    text: optionalText(values, "text"),
    from: from === undefined ? undefined : formatTime(from),
    to: to === undefined ? undefined : formatTime(to),
  });
  for await (const line of api.readLines(`/audit-events/export?${new URLSearchParams(query)}`))
    io.print(withoutControls(line));
  return 0;
};

/** As JSON escapes them, which means the same there: a stored text, or a server, must not control the operator's terminal. */
const withoutControls = (line: string): string =>
  line.replace(
    /(?!\t|\r$)\p{Cc}/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

export const auditOnServer: Readonly<Record<string, OnServer>> = {
  "audit list": list,
  "audit export": exportLog,
};
