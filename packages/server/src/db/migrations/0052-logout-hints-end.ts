/** What an identity provider recognises its session by is kept as long as a session can be signed out of, and no longer. */
import type { Migration } from "./migration.ts";

export const logoutHintsEnd: Migration = {
  name: "0052-logout-hints-end",
  statements: [
    // What an older node still writes ends at once: the sign-out there then asks who it is.
    "alter table upstream_sign_in add column id_token_until bigint not null default 0",
    // Those that are there: of sessions of twelve hours, which is the default.
    "update upstream_sign_in set id_token_until = signed_in_at + 43200000 where id_token is not null",
    `create index upstream_sign_in_id_token on upstream_sign_in (id_token_until)
      where id_token is not null`,
  ],
};
