/** The records that an event's details name besides its target, and the pages of records. */
import { isUuid } from "@signet/protocol/hash";
import type { NamedKind, StoredEvent } from "../../core/audit/audit.store.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { consolePath } from "../page.ts";

export type RecordKind = NamedKind | "organisation";

/** A part of an event's details in words. */
export interface NamedRecord {
  /** As it stands in the details. */
  readonly value: string;
  readonly name: string;
  readonly uri: string | undefined;
}

interface Mention {
  readonly value: string;
  readonly kind: NamedKind;
  readonly id: string;
  /** As `findActorNames` takes it. */
  readonly reference: string;
}

/** Details that are an id. */
const kindsByName: Readonly<Record<string, NamedKind>> = {
  userId: "user",
  groupId: "group",
  applicationId: "client",
  connectionId: "connection",
  poolId: "pool",
  pool: "pool",
};

/** What stands before an id in details that can be of several kinds. */
const kindsByType: Readonly<Record<string, NamedKind>> = {
  user: "user",
  group: "group",
  application: "client",
  systemAccount: "system-account",
};

/** Each once, in the order of the details. */
export function mentionsIn({ details, target }: StoredEvent): readonly Mention[] {
  const found = Object.entries(details).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one) => mentionOf(name, String(one)) ?? []),
  );
  const others = found.filter(({ id }) => id !== target);
  return [...new Map(others.map((one) => [one.reference, one])).values()];
}

function mentionOf(name: string, value: string): Mention | undefined {
  const [, type = "", typedId] = /^(\w{1,20}):(.{1,40})$/.exec(value) ?? [];
  const id = typedId ?? value;
  const kinds = typedId === undefined ? kindsByName : kindsByType;
  const key = typedId === undefined ? name : type;
  const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
  return kind !== undefined && isUuid(id) ? { value, kind, id, reference: `${kind}:${id}` } : undefined;
}

/** @param isThere false for a deleted record */
export function recordUri(
  organisation: Organisation,
  kind: RecordKind | undefined,
  id: string,
  isThere: boolean,
): string | undefined {
  if (kind === "organisation") return consolePath(organisation, "/settings");
  const pages: Readonly<Partial<Record<RecordKind, string>>> = {
    user: consolePath(organisation, `/users/${id}`),
    client: consolePath(organisation, `/applications/${id}`),
    "system-account": consolePath(organisation, `/system-accounts/${id}`),
    pool: consolePath(organisation, `/pools/${id}`),
    scope: consolePath(organisation, "/scopes"),
    connection: consolePath(organisation, `/connections/${id}`),
    domain: consolePath(organisation, `/domains/${id}`),
    webhook: consolePath(organisation, `/webhooks/${id}`),
    group: consolePath(organisation, `/groups/${id}`),
    role: consolePath(organisation, `/roles/${id}`),
    resource: consolePath(organisation, `/resources/${id}`),
    trust: consolePath(organisation, `/trusts/${id}`),
    "token-exchange-policy": consolePath(organisation, `/token-exchange/${id}`),
    "client-authority": consolePath(organisation, `/client-authorities/${id}`),
    "authorization-detail-type": consolePath(organisation, `/authorization-detail-types/${id}`),
    "initial-access-token": consolePath(organisation, `/initial-access-tokens/${id}`),
    device: `/devices/manage/${organisation.id}/${id}`,
  };
  return isThere && kind !== undefined ? pages[kind] : undefined;
}
