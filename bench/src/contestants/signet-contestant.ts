import { createHash } from "node:crypto";
import { collectCodes } from "../load/collect-codes.ts";
import type { Call } from "../load/load-plan.ts";
import type { Contestant, Target } from "./contestant.ts";
import { signIn } from "./signet-browser.ts";
import { type Demo, type RunningSignet, startSignet } from "./signet-server.ts";
import { codeVerifier, type SeedKind, type WorkName } from "./works.ts";

/** The addresses of the discovery document that the bench uses. */
export type Endpoints = Record<
  "authorization_endpoint" | "token_endpoint" | "introspection_endpoint" | "jwks_uri",
  string
>;

/** The scopes of the two kinds of code: with `openid` an exchange signs twice, without it a refresh signs once. */
const exchangeScope = "openid offline_access";
const refreshScope = "offline_access";

/** The service, started with its demo data and a user signed in to it; everything it needs lies in `folder`. */
export async function signetContestant(folder: string): Promise<Contestant> {
  return contestantOf(await startSignet(folder));
}

const discoveryUrl = (demo: Demo): string => `${demo.issuer}/.well-known/openid-configuration`;

export async function readEndpoints(demo: Demo): Promise<Endpoints> {
  return (await (await fetch(discoveryUrl(demo))).json()) as Endpoints;
}

/** @param others processes that work for it, as the database's */
export async function contestantOf(
  { port, pid, demo }: RunningSignet,
  others: readonly number[] = [],
): Promise<Contestant> {
  const endpoints = await readEndpoints(demo);
  const works = signetWorks(demo, endpoints, discoveryUrl(demo));
  const { email, password } = demo.user;
  const [redirectUri = ""] = demo.webApp.redirectUris;
  const authorize = (scope: string) => authorizeUrl(demo, endpoints, redirectUri, scope);
  const { cookie } = await signIn(authorize(exchangeScope), redirectUri, {
    email,
    password,
    decision: "allow",
  });

  const codes = (scope: string, count: number) => collectCodes(port, pathOf(authorize(scope)), cookie, count);
  const tokens = async (row: WorkName, member: string, changed: Record<string, string>) => {
    const { path, form } = works[row].call;
    const body = new URLSearchParams({ ...form, ...changed });
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body });
    const answer = (await response.json()) as Record<string, unknown>;
    if (typeof answer[member] !== "string") throw new Error(`no ${member}: ${JSON.stringify(answer)}`);
    return answer[member];
  };
  const seed = async (kind: SeedKind, count: number): Promise<string[]> => {
    if (kind === "code") return codes(exchangeScope, count);
    const values: string[] = [];
    const grants = kind === "refresh_token" ? await codes(refreshScope, count) : [];
    for (let index = 0; index < count; index += 1) {
      const code = grants[index];
      if (code === undefined) values.push(await tokens("client-credentials", "access_token", {}));
      else values.push(await tokens("code-exchange", "refresh_token", { code }));
    }
    return values;
  };
  return {
    name: "signet",
    target: async (row): Promise<Target> => ({ port, pids: [pid, ...others], ...works[row.name], seed }),
  };
}

function signetWorks(
  demo: Demo,
  endpoints: Endpoints,
  discovery: string,
): Record<WorkName, Pick<Target, "call" | "expectedText">> {
  const get = (url: string): Call => ({ method: "GET", path: pathOf(url) });
  const post = (
    url: string,
    app: { clientId: string; clientSecret: string },
    form: Record<string, string>,
  ): Call => ({
    method: "POST",
    path: pathOf(url),
    form: { ...form, client_id: app.clientId, client_secret: app.clientSecret },
  });
  const { token_endpoint: token, introspection_endpoint: introspection } = endpoints;
  const { webApp, serviceApp } = demo;
  const [redirectUri = ""] = webApp.redirectUris;
  const exchange = {
    grant_type: "authorization_code",
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  };
  return {
    discovery: { call: get(discovery), expectedText: "token_endpoint" },
    jwks: { call: get(endpoints.jwks_uri), expectedText: '"crv":"P-256"' },
    "client-credentials": {
      call: post(token, serviceApp, { grant_type: "client_credentials" }),
      expectedText: '"access_token":"eyJ',
    },
    "code-exchange": { call: post(token, webApp, exchange), expectedText: '"id_token":"eyJ' },
    refresh: {
      call: post(token, webApp, { grant_type: "refresh_token" }),
      expectedText: '"access_token":"eyJ',
    },
    introspection: { call: post(introspection, serviceApp, {}), expectedText: '"active":true' },
  };
}

/** Where a browser goes for a code. */
export function authorizeUrl(demo: Demo, endpoints: Endpoints, redirectUri: string, scope: string): string {
  const url = new URL(endpoints.authorization_endpoint);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: demo.webApp.clientId,
    redirect_uri: redirectUri,
    scope,
    state: "bench",
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
  }).toString();
  return url.href;
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
