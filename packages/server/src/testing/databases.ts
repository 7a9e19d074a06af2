/** Runs the same tests on both databases; each asks for as many empty ones as it needs. */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, describe } from "node:test";
import { createDatabase, dropDatabase, startPostgres } from "./postgres.ts";

export type DatabaseContext = {
  name: "sqlite" | "postgres";
  /**
   * Address of a new database, as in DATABASE_URL; it is removed after the suite. It has no rows, and where `npm test` has
   * made one to copy it has the schema.
   */
  fresh(): Promise<string>;
  /** The same without a schema, for tests of what makes it. */
  empty(): Promise<string>;
};

/** A database that the caller removes. */
export type Scratch = { url: string; remove(): Promise<void> };

const makers = {
  sqlite: {
    fresh: () => makeSqliteFile(process.env["SIGNET_TEST_TEMPLATE_FILE"]),
    empty: () => makeSqliteFile(),
  },
  postgres: {
    fresh: () => freshPostgres(),
    empty: () => makePostgresDatabase(),
  },
};

/**
 * Declares `body`'s tests once in a suite named `sqlite` and once in one named `postgres`.
 * `SIGNET_TEST_DATABASES=sqlite` leaves PostgreSQL out, for `npm test -- --changed`.
 */
export function forEachDatabase(body: (context: DatabaseContext) => void): void {
  const isQuick = process.env["SIGNET_TEST_DATABASES"] === "sqlite";
  declareFor(isQuick ? ["sqlite"] : ["sqlite", "postgres"], body);
}

/**
 * For journeys whose every step the tests beside the code take on both: on PostgreSQL, which nodes and crowds meet; and with
 * SIGNET_TEST_WHOLE=1 on both. SIGNET_TEST_JOURNEYS=sqlite, or postgres, has them on that one.
 */
export function forJourneyDatabases(body: (context: DatabaseContext) => void): void {
  const both = ["sqlite", "postgres"] as const;
  const wanted = process.env["SIGNET_TEST_JOURNEYS"] ?? "postgres";
  const isWhole = process.env["SIGNET_TEST_WHOLE"] === "1";
  declareFor(isWhole ? both : both.filter((name) => name === wanted), body);
}

function declareFor(
  names: ReadonlyArray<DatabaseContext["name"]>,
  body: (context: DatabaseContext) => void,
): void {
  for (const name of names) {
    describe(name, () => {
      const made: Scratch[] = [];
      const make = async (kind: "fresh" | "empty") => {
        const scratch = await makers[name][kind]();
        made.push(scratch);
        return scratch.url;
      };
      body({ name, fresh: () => make("fresh"), empty: () => make("empty") });
      // Declared last, so that the suite's own `after` has closed its connections.
      after(() => Promise.all(made.map((scratch) => scratch.remove())));
    });
  }
}

let ownServer: Promise<string> | undefined;

/**
 * Address of the PostgreSQL server for tests: the one that SIGNET_TEST_DATABASE_URL names (`npm test` starts it for all
 * test files), else one of this process, started at the first call and ended with the process.
 */
export function postgresServer(): Promise<string> {
  const given = process.env["SIGNET_TEST_DATABASE_URL"];
  if (given) return Promise.resolve(given);
  ownServer ??= startPostgres().then((server) => server.url);
  return ownServer;
}

/** Without rows, as `fresh` of a suite, for tests that need no other database. */
export const freshPostgres = (): Promise<Scratch> =>
  makePostgresDatabase(process.env["SIGNET_TEST_TEMPLATE_URL"]);

async function makePostgresDatabase(templateUrl?: string): Promise<Scratch> {
  const server = await postgresServer();
  const template = templateUrl && decodeURIComponent(new URL(templateUrl).pathname.slice(1));
  const url = await createDatabase(server, template);
  return { url, remove: () => dropDatabase(server, url) };
}

async function makeSqliteFile(template?: string): Promise<Scratch> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-sqlite-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const file = path.join(folder, "signet.db");
  if (template !== undefined) await copyFile(template, file);
  return { url: `sqlite:${file}`, remove };
}
