/** Keys of the whole installation that outlive a master key: sealed under the one in use. */
import type { Migration } from "./migration.ts";

export const installationKey: Migration = {
  name: "0027-installation-key",
  statements: ["create table installation_key (name text primary key, sealed text not null)"],
};
