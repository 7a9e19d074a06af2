/** The filter options of `signet audit list` and `signet audit export`. */
import { auditActions } from "../../core/audit/actions.ts";
import { matchActors } from "../../core/audit/actor-names.ts";
import { type AuditFilter, matchActions } from "../../core/audit/search/search.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { Service } from "../../modules/open-service.ts";
import { type Options, optionalText, UsageError, type Values } from "../command.ts";
import { readTime } from "../times.ts";

export const filterOptions: Options = {
  who: { type: "string", value: "WHO", help: "an email address, an ID, operator, system or anonymous" },
  what: { type: "string", value: "ACTION", help: "event, such as user.disabled, or a prefix such as user." },
  on: { type: "string", value: "ID", help: "ID of the target" },
  address: { type: "string", value: "ADDRESS", help: "IP address of the actor" },
  from: { type: "string", value: "TIME", help: "start: a date, or a time such as 2027-01-31T12:00:00Z" },
  to: { type: "string", value: "TIME", help: "end; a date includes the whole day" },
  text: { type: "string", value: "TEXT", help: "text anywhere in the event" },
};

export const filterUsage =
  "[--who WHO] [--what ACTION] [--on ID] [--address ADDRESS] [--from TIME] [--to TIME] [--text TEXT]";

/** @throws UsageError */
export async function readFilter(
  { database }: Service,
  { id: orgId }: Organisation,
  values: Values,
): Promise<AuditFilter> {
  const [who, what, target] = [
    optionalText(values, "who"),
    optionalText(values, "what"),
    optionalText(values, "on"),
  ];
  const [address, text] = [optionalText(values, "address"), optionalText(values, "text")];
  const [from, to] = [readTimeOption(values, "from"), readTimeOption(values, "to")];
  return {
    ...(who === undefined ? {} : { actors: await matchActors(database.query, orgId, who) }),
    ...(what === undefined ? {} : { actions: requireActions(what) }),
    ...(target === undefined ? {} : { target }),
    ...(address === undefined ? {} : { address }),
    ...(text === undefined ? {} : { text }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

function requireActions(what: string): readonly string[] {
  const actions = matchActions(what);
  if (actions.length > 0) return actions;
  const nouns = new Set(auditActions.map((action) => `${action.split(".")[0]}.`));
  throw new UsageError(`--what: unknown event "${what}"; events begin with ${[...nouns].join(" ")}`);
}

const DAY_MS = 86_400_000;

function readTimeOption(values: Values, option: "from" | "to"): number | undefined {
  const text = optionalText(values, option);
  if (text === undefined) return undefined;
  const at = readTime(text);
  if (at === undefined)
    throw new UsageError(
      `--${option} must be a date (2027-01-31) or a time with a time zone (2027-01-31T12:00:00Z)`,
    );
  return option === "to" && text.length === "2027-01-31".length ? at + DAY_MS : at;
}
