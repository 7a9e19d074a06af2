/** A big directory: what a token costs whoever is in groups, and how long a page of a list takes. */
import { type Bench, noLimits } from "../bench.ts";
import { newApiClient } from "../contestants/api-client.ts";
import { type BrowserSession, signIn } from "../contestants/signet-browser.ts";
import { runSignet } from "../contestants/signet-command.ts";
import { authorizeUrl, readEndpoints } from "../contestants/signet-contestant.ts";
import type { Demo, RunningSignet } from "../contestants/signet-server.ts";
import { codeVerifier } from "../contestants/works.ts";
import { collectCodes } from "../load/collect-codes.ts";
import { figureOf, figuresOf, ratioInRounds } from "../load/figure.ts";
import { loadedSide, measureInTurns, measureInterval, type Side } from "../load/in-turns.ts";
import type { Call } from "../load/load-plan.ts";
import type { Row } from "../row.ts";
import { type Growing, onBothDatabases } from "../scale/on-both-databases.ts";

const SIZES = {
  quick: { users: 5_000, groups: 500 },
  usual: { users: 100_000, groups: 10_000 },
  scale: { users: 100_000, groups: 10_000 },
};
const BARS = { token: 1.3, listMs: 100 };

export const directoryRow: Row = {
  name: "directory",
  title: "10,000 groups, 100,000 users",
  grows: true,
  measure: (bench) => onBothDatabases(bench, "directory", (growing) => measure(bench, growing), noLimits),
};

interface App {
  readonly clientId: string;
  readonly clientSecret: string;
}

interface Person {
  readonly email: string;
  readonly password: string;
}

async function measure(bench: Bench, { signet, pids, fill }: Growing) {
  const { demo, settings } = signet;
  const app = await newApplication(signet);
  const email = "grouped@bench.example";
  const made = await runSignet(settings, [
    ...["user", "create", "--org", demo.org, "--email", email, "--generate"],
    ...["--role", "standard", "--verified"],
  ]);
  const grouped = { email, password: made["password"] ?? "" };
  const size = SIZES[bench.options.size];
  const directory = { ...size, orgId: demo.org, applicationId: app.clientId, userId: made["id"] ?? "" };
  const { seconds } = await fill({ kind: "make-directory", directory });
  const sides = [
    await refreshSide(bench, { signet, pids, app, name: "in no group", person: demo.user }),
    await refreshSide(bench, { signet, pids, app, name: "in groups", person: grouped }),
  ];
  const rounds = await measureInTurns<string>(sides, bench.options);
  const lists = await measureLists(bench, { signet, pids });
  return {
    figures: figuresOf(rounds),
    checks: [
      {
        what: "CPU of a token, of a user in no group",
        value: ratioInRounds(rounds, "cpuMicros", ["in groups", "in no group"]),
        bar: { atMost: BARS.token },
      },
      lists.check,
      { what: "filled in", value: seconds, unit: "s" },
    ],
    intervals: { rounds, lists: lists.times },
  };
}

async function newApplication({ demo, settings }: RunningSignet): Promise<App> {
  const [redirectUri = ""] = demo.webApp.redirectUris;
  const app = await runSignet(settings, [
    ...["app", "create", "--org", demo.org, "--name", "Directory", "--type", "confidential", "--no-consent"],
    ...["--grant", "authorization_code", "--grant", "refresh_token", "--redirect-uri", redirectUri],
    ...["offline_access", "groups", "roles"].flatMap((scope) => ["--scope", scope]),
  ]);
  return { clientId: app["clientId"] ?? "", clientSecret: app["clientSecret"] ?? "" };
}

/** Refreshes of one user, with `groups` and `roles` in each access token. */
async function refreshSide<Name extends string>(
  bench: Bench,
  { signet, pids, app, name, person }: Refreshing<Name>,
): Promise<Side<Name>> {
  const { demo, port } = signet;
  const endpoints = await readEndpoints(demo);
  const [redirectUri = ""] = demo.webApp.redirectUris;
  const asked = { ...demo, webApp: { ...demo.webApp, ...app } };
  const url = authorizeUrl(asked, endpoints, redirectUri, "offline_access groups roles");
  const { cookie } = await signIn(url, redirectUri, { ...person, decision: "allow" });
  const { pathname: path } = new URL(endpoints.token_endpoint);
  const client = { client_id: app.clientId, client_secret: app.clientSecret };
  const first = async (code: string): Promise<string> => {
    const exchange = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
    const body = new URLSearchParams({ ...client, ...exchange, code_verifier: codeVerifier });
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body });
    const { refresh_token } = (await answer.json()) as { refresh_token?: string };
    if (refresh_token === undefined) throw new Error(`no refresh token for ${name}: ${answer.status}`);
    return refresh_token;
  };
  return loadedSide(await bench.load(), { name, pids }, async ({ connections }) => {
    const codes = await collectCodes(port, pathOf(url), cookie, connections);
    const values = await Promise.all(codes.map(first));
    return {
      port,
      call: { method: "POST", path, form: { ...client, grant_type: "refresh_token" } },
      expectedText: '"access_token":"eyJ',
      vary: { kind: "chain", field: "refresh_token", values },
    };
  });
}

interface Refreshing<Name extends string> {
  readonly signet: RunningSignet;
  readonly pids: readonly number[];
  readonly app: App;
  readonly name: Name;
  readonly person: Person;
}

/** Each list with one reader, so that what is measured is a page and not who waits for whom. */
async function measureLists(bench: Bench, { signet, pids }: Pick<Growing, "signet" | "pids">) {
  const load = await bench.load();
  const times: Record<string, number> = {};
  for (const [name, call] of Object.entries(await listCalls(signet))) {
    const side = loadedSide(load, { name, pids }, async () => ({
      port: signet.port,
      call,
      expectedText: "",
    }));
    const seconds = Math.max(1, bench.options.seconds);
    const { p95, firstError } = figureOf([await measureInterval(side, { seconds, connections: 1 })]);
    if (firstError !== undefined) throw new Error(`${name}: ${firstError}`);
    // One that was not done in the interval took longer than it.
    times[name] = Number.isNaN(p95) ? seconds * 1_000 : p95;
  }
  const [slowest, value] = Object.entries(times).reduce((one, other) => (other[1] > one[1] ? other : one));
  const what = `slowest of ${Object.keys(times).length} lists (${slowest}), p95`;
  return { times, check: { what, value, unit: "ms", bar: { atMost: BARS.listMs } } };
}

/** Pages of API v1 and of the console: the first, one by filter, one by search, one in another order, the last of a walk. */
async function listCalls(signet: RunningSignet): Promise<Record<string, Call>> {
  const { demo, port } = signet;
  const areas = ["users", "groups", "roles"];
  const headers = await newApiClient(
    signet,
    areas.map((area) => `signet:${area}:read`),
  );
  const root = `/api/v1/organisations/${demo.org}`;
  const read = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${root}${path}`, { headers });
    return (await answer.json()) as { items: { id: string }[]; next?: string | null };
  };
  const [group] = (await read("/groups?limit=1&sort=displayName")).items;
  const api = [
    ...["/users?limit=100", "/users?limit=100&sort=-email", "/users?limit=100&search=last4711"],
    ...[
      "/users?limit=100&total=true",
      `/users?limit=100&filter=${encodeURIComponent('email sw "person.42"')}`,
    ],
    ...["/groups?limit=100", "/groups?limit=100&sort=-displayName", "/groups?limit=100&search=0042"],
    ...["/groups?limit=100&total=true", `/groups/${group?.id}/members?limit=100`],
    ...[
      `/groups/${group?.id}/members?limit=100&effective=true`,
      "/roles?limit=100",
      "/assignments?limit=100",
    ],
  ];
  const console = `/oauth/manage/${demo.org}`;
  const pages = [
    "/users",
    "/users?search=last4711",
    "/groups",
    "/groups?search=0042",
    `/groups/${group?.id}`,
  ];
  const { cookie } = await consoleSession(demo, `http://localhost:${port}${console}`);
  return Object.fromEntries([
    ...api.map((path) => [path, { method: "GET", path: `${root}${path}`, headers }] as const),
    ...pages.map((path) => [
      `console ${path}`,
      { method: "GET", path: `${console}${path}`, headers: { Cookie: cookie, Accept: "text/html" } } as const,
    ]),
  ]);
}

/** The console's own sign-in ends at one of its pages. */
const consoleSession = (demo: Demo, url: string): Promise<BrowserSession> =>
  signIn(`${url}/confirm-identity`, url, { ...demo.admin, decision: "allow" });

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
