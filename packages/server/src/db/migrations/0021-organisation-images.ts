/** Images of organisations for their sign-in pages, named by their content: settings say which one is used for what. */
import type { Migration } from "./migration.ts";

export const organisationImages: Migration = {
  name: "0021-organisation-images",
  statements: [
    // Base64: the same statement stores it on both databases.
    `create table organisation_image (
      org_id text not null references organisation (id) on delete cascade,
      digest text not null, content_type text not null, content text not null, created_at bigint not null,
      primary key (org_id, digest))`,
  ],
};
