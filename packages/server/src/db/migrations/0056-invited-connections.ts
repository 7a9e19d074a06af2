/** Invitations that are accepted at an identity provider (connections.md §1). */
import type { Migration } from "./migration.ts";

export const invitedConnections: Migration = {
  name: "0056-invited-connections",
  statements: ["alter table invitation add column connection_id text"],
};
