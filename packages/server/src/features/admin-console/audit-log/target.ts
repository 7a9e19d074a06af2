/** The target of an audit event: its kind follows from the action. */

import type { StoredEvent } from "../../../core/audit/audit.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { consolePath } from "../../../page-kit/page.ts";

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

export interface Target {
  readonly kind: TargetKind | undefined;
  readonly id: string;
  /** As `findActorNames` takes it. */
  readonly reference: string;
}

export function findTarget({ action, target }: StoredEvent): Target | undefined {
  if (target === undefined) return undefined;
  const [noun = ""] = action.split(".");
  const kind = kinds[action] ?? kinds[noun];
  return { kind, id: target, reference: `${kind}:${target}` };
}

/** The record's page. @param isThere false for a deleted record */
export function targetUri(
  organisation: Pick<Organisation, "id">,
  { kind, id }: Pick<Target, "kind" | "id">,
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
