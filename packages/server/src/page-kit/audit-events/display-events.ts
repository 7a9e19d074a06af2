/** Audit events in the reader's words: actor, action, reason, target, application. */
import type { AuditAction } from "../../core/audit/actions.ts";
import { findActorNames } from "../../core/audit/actor-names.ts";
import type { StoredEvent } from "../../core/audit/audit.store.ts";
import { withTypedEmails } from "../../core/audit/event-context.store.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { loadActorLabels } from "../actor-names.ts";
import { type ConsoleDeps, consolePath } from "../page.ts";
import { mentionsIn, type NamedRecord, type RecordKind, recordUri } from "./mentions.ts";

export interface DisplayedEvent {
  readonly event: StoredEvent;
  readonly who: string;
  readonly what: string;
  /** Why it failed or was refused. */
  readonly reason: string | undefined;
  readonly target?: { readonly text: string; readonly isCode: boolean; readonly uri: string | undefined };
  /** That it happened through; without a name when it is deleted. */
  readonly application?: { readonly id: string; readonly name: string; readonly uri: string | undefined };
  /** Others that its details name: who a role was given to, who joined a group. */
  readonly mentioned: readonly NamedRecord[];
  readonly browser: string | undefined;
  /** What was typed as an email address, where no account has it. */
  readonly typedEmail: string | undefined;
}

/** One query for each kind of record. */
export async function displayEvents(
  deps: Pick<ConsoleDeps, "database">,
  organisation: Organisation,
  events: readonly StoredEvent[],
  messages: Messages,
): Promise<DisplayedEvent[]> {
  const actors = events.map(({ actor }) => actor);
  const actorName = await loadActorLabels(deps, organisation.id, actors, messages, true);
  const applicationOf = ({ context }: StoredEvent) =>
    context?.applicationId === undefined ? [] : [`client:${context.applicationId}`];
  const references = events.flatMap((event) =>
    [referenceTo(event) ?? [], applicationOf(event), mentionsIn(event).map((one) => one.reference)].flat(),
  );
  const typed = await withTypedEmails(deps.database.query, organisation.id, events);
  const names = new Map([
    ...(await findActorNames(deps.database.query, organisation.id, references)),
    [`organisation:${organisation.id}`, messages.console.auditLog.kinds.organisation],
  ]);
  const targetOf = (event: StoredEvent): Pick<DisplayedEvent, "target"> => {
    const reference = referenceTo(event);
    if (event.target === undefined || reference === undefined) return {};
    const name = names.get(reference);
    const uri = recordUri(organisation, kindOf(event), event.target, name !== undefined);
    const text = name ?? nameBefore(event);
    return { target: { text: text ?? event.target, isCode: text === undefined, uri } };
  };
  const throughOf = (event: StoredEvent): Pick<DisplayedEvent, "application"> => {
    const id = event.context?.applicationId;
    if (id === undefined) return {};
    const name = names.get(`client:${id}`);
    const uri = name === undefined ? undefined : consolePath(organisation, `/applications/${id}`);
    return { application: { id, name: name ?? id, uri } };
  };
  return typed.map(({ typedEmail, ...event }) => ({
    event,
    who: actorName(event.actor),
    what: actionText(event.action, messages),
    reason: reasonText(event, messages),
    ...targetOf(event),
    ...throughOf(event),
    mentioned: mentionsIn(event).flatMap(({ value, kind, id, reference }) => {
      const name = names.get(reference);
      return name === undefined ? [] : [{ value, name, uri: recordUri(organisation, kind, id, true) }];
    }),
    browser: event.context?.browser,
    typedEmail,
  }));
}

/** Reasons without a text are in the service's own English words, for developers and operators. */
function reasonText({ details }: StoredEvent, messages: Messages): string | undefined {
  const { reason } = details;
  if (typeof reason !== "string" || reason === "") return undefined;
  const texts: Readonly<Record<string, string>> = messages.console.auditLog.reasons;
  return Object.hasOwn(texts, reason) ? texts[reason] : reason;
}

/** By the verb of the action. */
export const isFailure = (action: string): boolean =>
  /\.(?:failed|limited|refused|denied|rejected|replayed|compromised)$/.test(action);

/** Another version of this program may record actions that have no text here. */
export function actionText(action: string, messages: Messages): string {
  const texts: Readonly<Record<AuditAction, string>> = messages.console.auditLog.actions;
  return Object.hasOwn(texts, action) ? texts[action as AuditAction] : action;
}

/** By the action, else by its noun. The targets of other actions have neither a name nor a page. */
const kinds: Readonly<Record<string, RecordKind>> = {
  "device.approved": "client",
  "device.denied": "client",
  "ciba-request.approved": "client",
  "ciba-request.denied": "client",
  "ciba-request": "user",
  "signing-key": "organisation",
  user: "user",
  invitation: "user",
  email: "user",
  "email-change": "user",
  password: "user",
  "password-reset": "user",
  "verify-email": "user",
  registration: "user",
  "sign-in": "user",
  authenticator: "user",
  passkey: "user",
  "recovery-codes": "user",
  "recovery-code": "user",
  "second-factors": "user",
  "second-factor": "user",
  "remembered-device": "user",
  "user-settings": "user",
  roaming: "user",
  code: "user",
  "device-code": "user",
  "refresh-token": "user",
  "access-token": "user",
  application: "client",
  "client-secret": "client",
  consent: "client",
  preauthorization: "client",
  "backchannel-logout": "client",
  "system-account": "system-account",
  "signing-pool": "pool",
  "signing-agent": "agent",
  device: "device",
  scope: "scope",
  group: "group",
  role: "role",
  connection: "connection",
  domain: "domain",
  webhook: "webhook",
  resource: "resource",
  trust: "trust",
  "token-exchange-policy": "token-exchange-policy",
  "client-authority": "client-authority",
  "authorization-detail-type": "authorization-detail-type",
  "initial-access-token": "initial-access-token",
  "connection-sign-in": "connection",
  identity: "user",
  "break-glass": "user",
  organisation: "organisation",
  audit: "organisation",
};

const kindOf = ({ action }: StoredEvent): RecordKind | undefined =>
  kinds[action] ?? kinds[action.split(".")[0] ?? ""];

/** As `findActorNames` takes it. */
const referenceTo = (event: StoredEvent): string | undefined =>
  event.target === undefined ? undefined : `${kindOf(event)}:${event.target}`;

/** What the event says that a record was called which is no longer there. */
function nameBefore({ action, details }: StoredEvent): string | undefined {
  if (!action.endsWith(".deleted")) return undefined;
  const { name, key, identifier, label } = details;
  return [name, key, identifier, label].find(
    (text): text is string => typeof text === "string" && text !== "",
  );
}
