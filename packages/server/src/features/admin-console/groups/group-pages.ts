/** Where the pages of groups are, and what refusals of core/groups mean on them. */
import { type CountedGroup, findGroup } from "../../../core/groups/groups.store.ts";
import { recordPages } from "../../../page-kit/record-pages.ts";

export const groupPages = recordPages<CountedGroup>(
  "groups",
  "/groups",
  (db, orgId, id) => findGroup(db, { orgId, id }),
  ({ displayName }) => displayName,
);
