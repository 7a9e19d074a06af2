/** The reserved organisation of the operators: at most one. */
import type { Migration } from "./migration.ts";

export const operators: Migration = {
  name: "0036-operators",
  statements: [
    `create table operators_organisation (
      singleton smallint not null check (singleton = 1), org_id text not null,
      primary key (singleton))`,
  ],
};
