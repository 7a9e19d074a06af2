/** What `signet audit list` and `signet audit export` look for. */
import { auditActions } from "../../core/audit/actions.ts";
import { type AuditFilter, actionsNamed } from "../../core/audit/search/filter.ts";
import { actorsMeant } from "../../core/audit/search/who.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { Service } from "../../modules/open-service.ts";
import { type Options, optionalText, UsageError, type Values } from "../command.ts";
import { readTime } from "../times.ts";

export const filterOptions: Options = {
  who: { type: "string", value: "WHO", help: "an email address, an id, operator, system or anonymous" },
  what: { type: "string", value: "ACTION", help: "as in user.disabled, or the beginning of several: user." },
  on: { type: "string", value: "ID", help: "what it was done to" },
  address: { type: "string", value: "ADDRESS", help: "the network address that it came from" },
  from: { type: "string", value: "TIME", help: "a date, or a time with its zone: 2027-01-31T12:00:00Z" },
  to: { type: "string", value: "TIME", help: "up to it; a date is meant with its whole day" },
  text: { type: "string", value: "TEXT", help: "a word somewhere in the event" },
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
  const [from, to] = [timeOf(values, "from"), timeOf(values, "to")];
  return {
    ...(who === undefined ? {} : { actors: await actorsMeant(database.query, orgId, who) }),
    ...(what === undefined ? {} : { actions: requireActions(what) }),
    ...(target === undefined ? {} : { target }),
    ...(address === undefined ? {} : { address }),
    ...(text === undefined ? {} : { text }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

function requireActions(what: string): readonly string[] {
  const actions = actionsNamed(what);
  if (actions.length > 0) return actions;
  const nouns = new Set(auditActions.map((action) => `${action.split(".")[0]}.`));
  throw new UsageError(
    `--what: there is no "${what}"; all of them begin with one of ${[...nouns].join(" ")}`,
  );
}

const DAY_MS = 86_400_000;

function timeOf(values: Values, option: "from" | "to"): number | undefined {
  const text = optionalText(values, option);
  if (text === undefined) return undefined;
  const at = readTime(text);
  if (at === undefined)
    throw new UsageError(
      `--${option} must be a date (2027-01-31) or a time with its zone (2027-01-31T12:00:00Z)`,
    );
  return option === "to" && text.length === "2027-01-31".length ? at + DAY_MS : at;
}
