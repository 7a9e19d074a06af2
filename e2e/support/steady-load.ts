/**
 * What clients do all day, through several nodes, and exactly what they were told: families that refresh one token after the
 * other, services that ask for tokens, and people who are signed in to one more application.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { ask, FORM_TYPE } from "../../packages/server/src/testing/ask.ts";
import { type TestBrowser, testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import { type ChainClient, firstToken, redirectUri } from "./refresh-chain.ts";
import { type Settings, signet } from "./signet-command.ts";

export interface LoadTarget {
  /** Where requests go, in turn: as many as there are nodes, or one balancer. */
  readonly addresses: readonly string[];
  readonly demo: DemoFile;
  readonly client: ChainClient;
  readonly families: number;
  readonly services: number;
  /** New families under way, by the session of a browser. */
  readonly newcomers?: number;
}

export interface Moment {
  /** By `performance.now()`. */
  readonly at: number;
  /** Services' tokens need no database where what they need is remembered; a refresh writes. */
  readonly grant: string;
  /** What the answer took. */
  readonly milliseconds: number;
  readonly address: string;
}

/** What came back so far. */
export interface Tally {
  /** Tokens that a client has. */
  readonly issued: readonly Moment[];
  readonly families: number;
  readonly refreshes: number;
  /** How often a client was to come again: by the answer's status, or the error of a connection that ended without one. */
  readonly away: Readonly<Record<string, number>>;
  /** What no client may ever be told, e.g. that the token of its last answer is unknown. */
  readonly wrong: readonly string[];
}

export interface Load {
  tally(): Tally;
  /** Ends it, then presents the token that each family was given last. @returns everything, with what these were told */
  stop(): Promise<Tally>;
}

const PAUSE_MS = 30;
const RETRY_MS = 100;

type Reply = { status: number; body: Record<string, unknown>; failed?: string };

const isAway = ({ status }: Reply): boolean => status === 0 || status >= 500;

/** What a proxy says of its own is no JSON. */
async function post(url: string, form: Record<string, string>): Promise<Reply> {
  try {
    const sent = {
      method: "POST",
      headers: { "content-type": FORM_TYPE },
      body: String(new URLSearchParams(form)),
    };
    const { status, text } = await ask(url, sent);
    return { status, body: status >= 500 ? {} : (JSON.parse(text) as Reply["body"]) };
  } catch (error) {
    return { status: 0, body: {}, failed: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}

/**
 * An application for the families, made by an operator.
 * @param run who runs the command: the version that serves, as today's would migrate first
 */
export async function makeLoadClient(demo: DemoFile, settings: Settings, run = signet): Promise<ChainClient> {
  const named = [
    "--org",
    demo.org,
    "--name",
    "Load",
    "--type",
    "confidential",
    "--redirect-uri",
    redirectUri,
  ];
  const made = await run(["app", "create", ...named], settings);
  const [clientId, clientSecret] = [String(made["clientId"]), String(made["clientSecret"])];
  return { clientId, clientSecret, hasGrace: true };
}

/** Waits until every family is there. It ends with the test, if not before. */
export async function startLoad(t: TestContext, target: LoadTarget): Promise<Load> {
  const { demo, client } = target;
  const counted = newCounts();
  const send = sender(target, counted);
  const families: Family[] = [];
  let isOver = false;
  t.after(() => {
    isOver = true;
  });
  const browser = testBrowser();
  const join = async (person?: DemoFile["user"]) => {
    families.push({ last: await newFamily(target, browser, person), isLost: false });
    return true;
  };
  await join(demo.user);
  while (families.length < target.families) await join();
  /** A client that was told nothing, or to come again, presents the same token. @returns whether it has an answer */
  const refresh = async (family: Family): Promise<boolean> => {
    const reply = await send({ grant_type: "refresh_token", refresh_token: family.last }, client);
    if (isAway(reply)) return false;
    family.isLost = reply.status !== 200;
    if (family.isLost) return true;
    family.last = String(reply.body["refresh_token"]);
    counted.refreshes += 1;
    return true;
  };
  const serve = async () =>
    (await send({ grant_type: "client_credentials" }, demo.serviceApp)).status === 200;
  const untilOver = async (work: () => Promise<boolean>) => {
    while (!isOver) await delay((await work()) ? PAUSE_MS : RETRY_MS);
  };
  const work = [
    ...families.map((family) => untilOver(async () => family.isLost || refresh(family))),
    ...Array.from({ length: target.services }, () => untilOver(serve)),
    ...Array.from({ length: target.newcomers ?? 0 }, () => untilOver(() => join().catch(() => false))),
  ];
  const tally = () => ({ ...counted, families: families.length });
  return {
    tally,
    stop: async () => {
      isOver = true;
      await Promise.all(work);
      for (const family of families)
        assert.ok(family.isLost || (await refresh(family)), "the load ends while all is well");
      return tally();
    },
  };
}

type Family = { last: string; isLost: boolean };

const newCounts = () => ({
  issued: [] as Moment[],
  refreshes: 0,
  away: {} as Record<string, number>,
  wrong: [] as string[],
});

/** @returns what sends a token request to the next address, and counts what comes back */
function sender({ addresses, demo }: LoadTarget, counted: ReturnType<typeof newCounts>) {
  let turn = 0;
  return async (
    form: Record<string, string>,
    caller: ChainClient | DemoFile["serviceApp"],
  ): Promise<Reply> => {
    const asked = performance.now();
    const address = addresses[turn++ % addresses.length] ?? "";
    const { clientId: client_id, clientSecret: client_secret } = caller;
    const grant = form["grant_type"] ?? "";
    const reply = await post(`${address}/oauth/${demo.org}/token`, { ...form, client_id, client_secret });
    const at = performance.now();
    if (reply.status === 200) counted.issued.push({ at, grant, milliseconds: at - asked, address });
    else if (isAway(reply)) {
      const why = reply.failed ?? String(reply.status);
      counted.away[why] = (counted.away[why] ?? 0) + 1;
    } else counted.wrong.push(`${grant}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply;
  };
}

/** @throws when no token comes back, of whatever cause: nothing was acknowledged then */
function newFamily({ addresses, demo, client }: LoadTarget, browser: TestBrowser, person?: DemoFile["user"]) {
  const issuer = `${addresses[0]}/oauth/${demo.org}`;
  return firstToken({ issuer, client }, browser, person);
}
