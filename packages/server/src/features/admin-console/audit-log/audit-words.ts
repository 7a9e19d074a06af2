/** Events in words: who, what, on what. */

import type { AuditAction } from "../../../core/audit/actions.ts";
import { findActorNames } from "../../../core/audit/actor-names.ts";
import type { KeptEvent } from "../../../core/audit/audit.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { actorTexts } from "../../../page-kit/actor-names.ts";
import type { ConsoleDeps } from "../../../page-kit/visit.ts";
import { pageOf, targetOf } from "./target.ts";

export interface EventInWords {
  readonly event: KeptEvent;
  readonly who: string;
  readonly what: string;
  readonly target?: { readonly text: string; readonly isCode: boolean; readonly uri: string | undefined };
}

/** Names for a page of events, in one query for each kind of record. */
export async function inWords(
  deps: Pick<ConsoleDeps, "database">,
  organisation: Organisation,
  events: readonly KeptEvent[],
  messages: Messages,
): Promise<EventInWords[]> {
  const { kinds } = messages.console.auditLog;
  const actors = events.map(({ actor }) => actor);
  const named = await findActorNames(
    deps.database.query,
    organisation.id,
    actors.filter((actor) => /^(agent|device):/.test(actor)),
  );
  const whoIs = await actorTexts(deps, organisation.id, actors, messages, true);
  const whoText = (actor: string) => {
    const [kind = ""] = actor.split(":");
    const isNameless = (kind === "agent" || kind === "device") && !named.has(actor);
    return isNameless ? kinds[kind] : whoIs(actor);
  };
  const references = events.flatMap((event) => targetOf(event)?.reference ?? []);
  const names = await findActorNames(deps.database.query, organisation.id, references);
  const targetText = (event: KeptEvent): Pick<EventInWords, "target"> => {
    const target = targetOf(event);
    if (!target) return {};
    const { kind, id } = target;
    if (kind === "organisation" && id === organisation.id) {
      const uri = pageOf(organisation, target, true);
      return { target: { text: kinds.organisation, isCode: false, uri } };
    }
    const name = names.get(target.reference);
    const uri = pageOf(organisation, target, name !== undefined);
    return { target: { text: name ?? id, isCode: name === undefined, uri } };
  };
  return events.map((event) => ({
    event,
    who: whoText(event.actor),
    what: actionText(event.action, messages),
    ...targetText(event),
  }));
}

/** Of another version of this program there may be actions that this one has no words for. */
export function actionText(action: string, messages: Messages): string {
  const texts: Readonly<Record<AuditAction, string>> = messages.console.auditLog.actions;
  return Object.hasOwn(texts, action) ? texts[action as AuditAction] : action;
}
