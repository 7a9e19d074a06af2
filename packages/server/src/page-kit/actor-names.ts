/** Who the audit log's actors are, in words, for the pages of a console. */
import { findActorNames } from "../core/audit/actor-names.ts";
import { lastChanges } from "../core/audit/audit.store.ts";
import type { Messages } from "../html/messages/messages.ts";
import type { ConsoleDeps } from "./page.ts";

/**
 * The text for each actor; one query for all of them.
 * @param isAlone in a column or as a label, not after "by": other languages have another case there
 */
export async function loadActorLabels(
  { database }: Pick<ConsoleDeps, "database">,
  orgId: string,
  actors: readonly string[],
  { console: { frame } }: Messages,
  isAlone = false,
): Promise<(actor: string) => string> {
  const text = isAlone ? frame.actorsAlone : frame.actors;
  const unnamed = new Map([
    ["operator", text.operator],
    ["system", text.system],
    ["user", text.formerUser],
    ["client", text.application],
    ["system-account", text.systemAccount],
    ["agent", text.agent],
    ["device", text.device],
    ["initial-access-token", text.initialAccessToken],
    ["anonymous", text.anonymous],
  ]);
  const names = await findActorNames(database.query, orgId, actors);
  return (actor) => names.get(actor) ?? unnamed.get(actor.split(":")[0] ?? "") ?? actor;
}

export interface LastChange {
  readonly who: string;
  /** Milliseconds. */
  readonly at: number;
}

/** For the line that every record has: who changed it last, and when. */
export async function findLastChange(
  deps: Pick<ConsoleDeps, "database">,
  orgId: string,
  target: string,
  messages: Messages,
): Promise<LastChange | undefined> {
  return (await findLastChanges(deps, orgId, [target], messages)).get(target);
}

/** The same for the rows of a list, by target. */
export async function findLastChanges(
  deps: Pick<ConsoleDeps, "database">,
  orgId: string,
  targets: readonly string[],
  messages: Messages,
): Promise<ReadonlyMap<string, LastChange>> {
  const changes = [...(await lastChanges(deps.database.query, orgId, targets))];
  const actors = changes.map(([, { actor }]) => actor);
  const labelOfActor = await loadActorLabels(deps, orgId, actors, messages);
  return new Map(changes.map(([target, { actor, at }]) => [target, { who: labelOfActor(actor), at }]));
}
