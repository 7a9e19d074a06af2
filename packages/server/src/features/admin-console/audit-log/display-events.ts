/** Audit events in the reader's words: actor, action, target. */
import type { AuditAction } from "../../../core/audit/actions.ts";
import { findActorNames } from "../../../core/audit/actor-names.ts";
import type { StoredEvent } from "../../../core/audit/audit.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { loadActorLabels } from "../../../page-kit/actor-names.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";

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
  const actors = events.map(({ actor }) => actor);
  const actorName = await loadActorLabels(deps, organisation.id, actors, messages, true);
  const references = events.flatMap((event) => referenceTo(event) ?? []);
  const names = new Map([
    ...(await findActorNames(deps.database.query, organisation.id, references)),
    [`organisation:${organisation.id}`, messages.console.auditLog.kinds.organisation],
  ]);
  const targetOf = (event: StoredEvent): Pick<DisplayedEvent, "target"> => {
    const reference = referenceTo(event);
    if (event.target === undefined || reference === undefined) return {};
    const name = names.get(reference);
    const uri = targetUri(organisation, kindOf(event), event.target, name !== undefined);
    return { target: { text: name ?? event.target, isCode: name === undefined, uri } };
  };
  return events.map((event) => ({
    event,
    who: actorName(event.actor),
    what: actionText(event.action, messages),
    ...targetOf(event),
  }));
}

/** Another version of this program may record actions that have no text here. */
export function actionText(action: string, messages: Messages): string {
  const texts: Readonly<Record<AuditAction, string>> = messages.console.auditLog.actions;
  return Object.hasOwn(texts, action) ? texts[action as AuditAction] : action;
}

type TargetKind =
  | "user"
  | "client"
  | "system-account"
  | "pool"
  | "agent"
  | "device"
  | "scope"
  | "organisation";

/** By the action, else by its noun. The targets of other actions have neither a name nor a page. */
const kinds: Readonly<Record<string, TargetKind>> = {
  "device.approved": "client",
  "device.denied": "client",
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
  organisation: "organisation",
  audit: "organisation",
};

const kindOf = ({ action }: StoredEvent): TargetKind | undefined =>
  kinds[action] ?? kinds[action.split(".")[0] ?? ""];

/** As `findActorNames` takes it. */
const referenceTo = (event: StoredEvent): string | undefined =>
  event.target === undefined ? undefined : `${kindOf(event)}:${event.target}`;

/** The record's page. @param isThere false for a deleted record */
function targetUri(
  organisation: Organisation,
  kind: TargetKind | undefined,
  id: string,
  isThere: boolean,
): string | undefined {
  if (kind === "organisation") return consolePath(organisation, "/settings");
  const pages: Readonly<Partial<Record<TargetKind, string>>> = {
    user: consolePath(organisation, `/users/${id}`),
    client: consolePath(organisation, `/applications/${id}`),
    "system-account": consolePath(organisation, `/system-accounts/${id}`),
    pool: consolePath(organisation, `/pools/${id}`),
    scope: consolePath(organisation, "/scopes"),
    device: `/devices/manage/${organisation.id}`,
  };
  return isThere && kind !== undefined ? pages[kind] : undefined;
}
