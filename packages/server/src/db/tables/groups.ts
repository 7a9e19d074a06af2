/** Groups, roles and who has them. */
import type { Generated } from "kysely";

export interface UserGroupTable {
  org_id: string;
  id: string;
  display_name: string;
  /** The name as it is compared: see core/groups/group.ts. */
  name_key: string;
  description: string | null;
  external_id: string | null;
  /** `local`, `scim` or `connection`. */
  source: string;
  connection_id: string | null;
  created_at: number;
  updated_at: number;
  version: number;
  /** Goes up with every change of the members; `version` does not. */
  members_changed_at: Generated<number | null>;
}

/** A user or guest as a direct member of a group. */
export interface GroupUserTable {
  org_id: string;
  group_id: string;
  user_id: string;
  added_at: number;
}

/** A group as a member of another: `group_id` is the outer one. */
export interface GroupNestedTable {
  org_id: string;
  group_id: string;
  member_id: string;
  added_at: number;
}

export interface RoleTable {
  org_id: string;
  id: string;
  /** Null: the organisation's. */
  application_id: string | null;
  key: string;
  name: string;
  description: string | null;
  /** JSON array of `resource:action`. */
  permissions: string;
  built_in: number;
  created_at: number;
  updated_at: number;
  version: number;
}

/** Exactly one of the four subjects is set. */
export interface RoleAssignmentTable {
  org_id: string;
  id: string;
  role_id: string;
  user_id: string | null;
  group_id: string | null;
  /** An application acting on its own behalf. */
  client_id: string | null;
  system_account_id: string | null;
  created_by: string;
  created_at: number;
}

/** Groups whose members may use an application whose access is `assigned`. */
export interface ApplicationGroupTable {
  org_id: string;
  application_id: string;
  group_id: string;
  assigned_by: string;
  assigned_at: number;
}

export interface GroupsSchema {
  user_group: UserGroupTable;
  group_user: GroupUserTable;
  group_nested: GroupNestedTable;
  role: RoleTable;
  role_assignment: RoleAssignmentTable;
  application_group: ApplicationGroupTable;
}
