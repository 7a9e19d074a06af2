/**
 * `npm run bench:console`: the server's time for every page of the console in an organisation of 10,000 applications and
 * 100,000 users, beside the same page in one that is nearly empty, on both databases (docs/benchmarks.md).
 */
import { parseArgs } from "node:util";
import { CONSOLE } from "../../packages/server/src/page-kit/page.ts";
import { postgresServer } from "../../packages/server/src/testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import {
  type SeededRecords,
  seedRecords,
} from "../../packages/server/src/testing/fixtures/planted-records.ts";
import { follow, logIn } from "../../packages/server/src/testing/fixtures/visit.ts";
import { listRoutes } from "../../packages/server/src/testing/list-routes.ts";
import { createDatabase, dropDatabase } from "../../packages/server/src/testing/postgres.ts";
import { recordAddress } from "../../packages/server/src/testing/probes/record-address.ts";
import { startTestService, type TestService } from "../../packages/server/src/testing/test-service.ts";
import { makeBig } from "./big-organisation.ts";
import { median } from "./load/statistics.ts";
import { runInOwnFolder } from "./own-folder.ts";

const LIMIT_MS = 1_000;
const searches = [
  "/applications?search=grace12",
  "/applications?search=nothing-is-called-this",
  "/users?search=grace12",
  "/users?search=nothing-is-called-this",
  "/users?search=person99999",
  "/consents?search=grace",
  "/audit-log?action=user.changed",
];

type Figure = { path: string; ms: number };

/** Written while it is read, record by record: how long that takes says nothing about when it begins. */
const isFile = (path: string): boolean => path.endsWith("/export");

async function bench(folder: string): Promise<number> {
  const { values } = parseArgs({
    options: { rounds: { type: "string", default: "5" }, database: { type: "string", default: "" } },
  });
  const rounds = Number(values.rounds);
  const server = await postgresServer();
  const url = await createDatabase(server);
  let slow = 0;
  try {
    for (const databaseUrl of [`sqlite:${folder}/signet.db`, url])
      if (databaseUrl.startsWith(values.database)) slow += await measure(databaseUrl, rounds);
  } finally {
    await dropDatabase(server, url);
  }
  return slow === 0 ? 0 : 1;
}

async function measure(databaseUrl: string, rounds: number): Promise<number> {
  const running = await startTestService({ databaseUrl });
  try {
    const small = await seedRecords(running.service, "Small");
    const big = await seedRecords(running.service, "Big");
    const size = { applications: 10_000, users: 100_000, events: 200_000 };
    await makeBig(running.service.database.query, big.organisation.id, big.web.application.id, size);
    console.log(`\n${databaseUrl.split(":")[0]}: ms of the server, ${rounds} rounds, median`);
    console.log(`${"page".padEnd(46)}${"small".padStart(8)}${"big".padStart(8)}${"ratio".padStart(8)}`);
    const [few, many] = [await look(running, small, rounds), await look(running, big, rounds)];
    many.forEach(({ path, ms }, index) => {
      const before = few[index]?.ms ?? 0;
      const line = [before, ms, ms / before].map((figure) => figure.toFixed(1).padStart(8)).join("");
      const note = isFile(path) ? "  the whole file" : ms > LIMIT_MS ? "  TOO SLOW" : "";
      console.log(`${path.padEnd(46)}${line}${note}`);
    });
    return many.filter(({ path, ms }) => ms > LIMIT_MS && !isFile(path)).length;
  } finally {
    await running.close();
  }
}

/** Every page that a GET shows, with the record in its address where it has one. */
async function look(running: TestService, org: SeededRecords, rounds: number): Promise<Figure[]> {
  const browser = await signedIn(running, org);
  const routes = (await listRoutes()).filter(
    ({ method, path }) => method === "GET" && path.startsWith(CONSOLE),
  );
  const { organisation, ids } = org;
  const addresses = routes.flatMap(({ path }) => recordAddress(path, organisation.id, ids) ?? []);
  const paths = [
    ...addresses.map((address) => address.slice(`/oauth/manage/${organisation.id}`.length)),
    ...searches,
  ];
  const figures: Figure[] = [];
  for (const path of paths) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const url = `${running.baseUrl}/oauth/manage/${org.organisation.id}${path}`;
      await browser.get(url, { accept: "text/html" });
      times.push(running.lines.at(-1)?.durationMs ?? Number.NaN);
    }
    figures.push({
      path: path === "" ? "(overview)" : path.replaceAll(/[0-9a-f-]{36}|(?<=keys\/)[\w-]{43}/g, "{id}"),
      ms: median(times),
    });
  }
  return figures;
}

async function signedIn(running: TestService, org: SeededRecords): Promise<TestBrowser> {
  const browser = testBrowser();
  const console = `${running.baseUrl}/oauth/manage/${org.organisation.id}/confirm-identity`;
  await logIn(
    browser,
    { ...org, user: org.administrator },
    await follow(browser, await browser.get(console)),
  );
  return browser;
}

await runInOwnFolder(bench);
