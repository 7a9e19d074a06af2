/** Organisations whose configuration is exported, compared and applied, on one database. */
import assert from "node:assert/strict";
import type { ApplicationDeps } from "../core/applications/applications.ts";
import { applyFile } from "../core/configuration/apply.ts";
import { differenceOf } from "../core/configuration/difference.ts";
import { type Entry, entriesOf } from "../core/configuration/entries.ts";
import { type Exported, exportOrganisation } from "../core/configuration/export.ts";
import type { FileApplication, OrganisationFile } from "../core/configuration/organisation-file.ts";
import { readState } from "../core/configuration/state.ts";
import { createOrganisation } from "../core/organisations/organisations.ts";
import { openChangeFeed } from "../db/change-feed.ts";
import { migrate } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import { dumpTable } from "./dump-database.ts";

export const actor = "operator";
export const nothing = { created: 0, changed: 0, removed: 0 };

/** What an apply may change, and what it must not touch. */
const tables = [
  "application",
  "application_origin",
  "application_external_key",
  "client_secret",
  "custom_scope",
  "consent",
  "preauthorization",
  "audit_event",
] as const;

export interface TestConfiguration {
  readonly deps: ApplicationDeps;
  makeOrg(): Promise<string>;
  exported(orgId: string): Promise<Exported>;
  shownOf(orgId: string, file: OrganisationFile, prune?: boolean): Promise<Entry[]>;
  /** @returns what was done or left alone: a word, a kind and a name each */
  apply(orgId: string, file: OrganisationFile, prune?: boolean): Promise<string[]>;
  /** All that the organisation has, as text that can be compared. */
  dump(orgId: string): Promise<string>;
  close(): Promise<void>;
}

export async function testConfiguration(databaseUrl: string): Promise<TestConfiguration> {
  const database = openDatabase(databaseUrl, 3);
  await migrate(database);
  const changes = await openChangeFeed(database);
  let time = 1_700_000_000_000;
  // Each moment once: the audit log can be read in the order of the acts.
  const deps = { database, changes, clock: () => time++ };
  const shownOf: TestConfiguration["shownOf"] = async (orgId, file, prune = false) => {
    const state = await readState(database.query, orgId);
    assert.ok(state);
    return entriesOf(differenceOf(state, file, prune));
  };
  return {
    deps,
    shownOf,
    makeOrg: async () => (await createOrganisation(deps, database.query, { name: "Acme", actor })).id,
    exported: async (orgId) => {
      const written = await exportOrganisation(database.query, orgId);
      assert.ok(written);
      return written;
    },
    apply: async (orgId, file, prune = false) => {
      const shown = await shownOf(orgId, file, prune);
      await applyFile(deps, { orgId, file, prune, shown, actor });
      const told = shown.filter(({ act }) => act !== "unchanged");
      return told.map(({ act, kind, name }) => `${act} ${kind} ${name}`);
    },
    dump: async (orgId) => {
      const rows = [];
      for (const table of tables) rows.push(...(await dumpTable(database.query, table, orgId)));
      const state = await readState(database.query, orgId);
      return JSON.stringify([rows, state?.organisation]);
    },
    close: async () => {
      await changes.close();
      await database.close();
    },
  };
}

export const withoutIds = (text: string): string => text.replaceAll(/^ +"id": ".*",\n/gm, "");

export function applicationIn(file: OrganisationFile, name: string): FileApplication {
  const found = file.applications?.find((one) => one.name === name);
  assert.ok(found);
  return found;
}

/** The file with some members of one application changed; undefined takes a member out. */
export const withApplication = (file: OrganisationFile, name: string, members: object): OrganisationFile => ({
  ...file,
  applications: (file.applications ?? []).map((one) =>
    one.name === name ? (JSON.parse(JSON.stringify({ ...one, ...members })) as FileApplication) : one,
  ),
});
