/** Audit events in the reader's words: actor, action, target. */
import type { AuditAction } from "../../../core/audit/actions.ts";
import { findActorNames } from "../../../core/audit/actor-names.ts";
import type { StoredEvent } from "../../../core/audit/audit.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { loadActorLabels } from "../../../page-kit/actor-names.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { findTarget, targetUri } from "./target.ts";

export interface DisplayedEvent {
  readonly event: StoredEvent;
  readonly who: string;
  readonly what: string;
  readonly target?: { readonly text: string; readonly isCode: boolean; readonly uri: string | undefined };
}

/** One query for each kind of record. */
export async function displayEvents(
  deps: Pick<ConsoleDeps, "database">,
  organisation: Organisation,
  events: readonly StoredEvent[],
  messages: Messages,
): Promise<DisplayedEvent[]> {
  const { kinds } = messages.console.auditLog;
  const actors = events.map(({ actor }) => actor);
  const named = await findActorNames(
    deps.database.query,
    organisation.id,
    actors.filter((actor) => /^(agent|device):/.test(actor)),
  );
  const actorName = await loadActorLabels(deps, organisation.id, actors, messages, true);
  const actorText = (actor: string) => {
    const [kind = ""] = actor.split(":");
    const isNameless = (kind === "agent" || kind === "device") && !named.has(actor);
    return isNameless ? kinds[kind] : actorName(actor);
  };
  const references = events.flatMap((event) => findTarget(event)?.reference ?? []);
  const names = await findActorNames(deps.database.query, organisation.id, references);
  const targetText = (event: StoredEvent): Pick<DisplayedEvent, "target"> => {
    const target = findTarget(event);
    if (!target) return {};
    const { kind, id } = target;
    if (kind === "organisation" && id === organisation.id) {
      const uri = targetUri(organisation, target, true);
      return { target: { text: kinds.organisation, isCode: false, uri } };
    }
    const name = names.get(target.reference);
    const uri = targetUri(organisation, target, name !== undefined);
    return { target: { text: name ?? id, isCode: name === undefined, uri } };
  };
  return events.map((event) => ({
    event,
    who: actorText(event.actor),
    what: actionText(event.action, messages),
    ...targetText(event),
  }));
}

/** Another version of this program may record actions that have no text here. */
export function actionText(action: string, messages: Messages): string {
  const texts: Readonly<Record<AuditAction, string>> = messages.console.auditLog.actions;
  return Object.hasOwn(texts, action) ? texts[action as AuditAction] : action;
}
