/** Who the audit log's actors are, in words, for the pages of a console. */
import { findActorNames } from "../core/audit/actor-names.ts";
import { lastChange } from "../core/audit/store.ts";
import type { Messages } from "../html/messages/messages.ts";
import type { ConsoleDeps } from "./visit.ts";

/** The text for each actor; one query for all of them. */
export async function actorTexts(
  { database }: Pick<ConsoleDeps, "database">,
  orgId: string,
  actors: readonly string[],
  { console: { frame } }: Messages,
): Promise<(actor: string) => string> {
  const { actors: text } = frame;
  const names = await findActorNames(database.query, orgId, actors);
  return (actor) => {
    const name = names.get(actor);
    if (name !== undefined) return name;
    const [kind = ""] = actor.split(":");
    const kinds: Readonly<Record<string, string>> = {
      operator: text.operator,
      system: text.system,
      user: text.formerUser,
      client: text.application,
      "system-account": text.systemAccount,
    };
    return Object.hasOwn(kinds, kind) ? (kinds[kind] ?? text.anonymous) : text.anonymous;
  };
}

/** For the line that every record has: who changed it last, and when. */
export async function lastChangeOf(
  deps: Pick<ConsoleDeps, "database">,
  orgId: string,
  target: string,
  messages: Messages,
): Promise<{ who: string; at: number } | undefined> {
  const change = await lastChange(deps.database.query, orgId, target);
  if (!change) return undefined;
  const textOf = await actorTexts(deps, orgId, [change.actor], messages);
  return { who: textOf(change.actor), at: change.at };
}
