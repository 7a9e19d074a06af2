/** What a subject has by groups and roles. */

export interface HeldGroup {
  readonly id: string;
  readonly displayName: string;
  readonly externalId: string | null;
}

export interface HeldRole {
  readonly id: string;
  /** Null: the organisation's. */
  readonly applicationId: string | null;
  readonly key: string;
  readonly permissions: readonly string[];
  /** The group that it is assigned to; null for one of the subject's own. */
  readonly groupId: string | null;
}

export interface Entitlements {
  /** Every group that the subject is in, at any depth, by id. */
  readonly groups: ReadonlyMap<string, HeldGroup>;
  /** Those that it is a member of itself. */
  readonly direct: readonly string[];
  /** By the id of a group: the groups that it is a member of. */
  readonly outer: ReadonlyMap<string, readonly string[]>;
  readonly roles: readonly HeldRole[];
  /** Applications that the subject is assigned to, itself (null) or by a group. */
  readonly access: ReadonlyArray<{ readonly applicationId: string; readonly groupId: string | null }>;
}
