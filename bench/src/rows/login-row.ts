/** Password sign-ins, the whole browser flow, beside bare Argon2id; and client credentials while they saturate the service. */
import type { Bench } from "../bench.ts";
import { startChild } from "../child.ts";
import type { HashAnswer, HashQuestion } from "../contestants/bare-argon2.ts";
import { authorizeUrl, readEndpoints } from "../contestants/signet-contestant.ts";
import type { RunningSignet } from "../contestants/signet-server.ts";
import { figureOf, figuresOf, type Outcome, ratioInRounds } from "../load/figure.ts";
import { measureInTurns, measureInterval, type Side } from "../load/in-turns.ts";
import type { LoadPlan, LoadResult } from "../load/load-plan.ts";
import type { SignInQuestion } from "../load/sign-in-load.ts";
import { median } from "../load/statistics.ts";
import type { Measured, Row } from "../row.ts";

/** Browsers at once: more than the password queue works on, fewer than it lets wait. */
const browsers = 8;
const answerSeconds = 60;
/** Requests a second of the client beside the sign-ins: it must not saturate anything itself. */
const tokensPerSecond = 50;

export const loginRow: Row = { name: "login", title: "Password sign-in", measure };

async function measure(bench: Bench): Promise<Measured> {
  const signet = await bench.unlimited();
  const bare = await bareSide();
  const signIns = await signInSide(signet);
  // Sign-ins are slow: an interval of half a second holds a dozen.
  const intervals = { ...bench.options, connections: browsers, seconds: Math.max(1, bench.options.seconds) };
  const rounds = await measureInTurns<"bare" | "signet">([bare, signIns], intervals);
  const beside = await tokensBeside(bench, signet, signIns);
  const cpu = figureOf(rounds.flatMap(({ signet: one }) => one ?? [])).cpuMicros / 1000;
  return {
    figures: { ...figuresOf(rounds), "client credentials beside": figureOf(beside.loaded) },
    checks: [
      { what: "CPU per sign-in", value: cpu, unit: "ms", bar: { atMost: 26 } },
      {
        what: "rate of bare Argon2id",
        value: ratioInRounds(rounds, "perSecond", ["signet", "bare"]),
        bar: { atLeast: 0.85 },
      },
      { what: "CPU of bare", value: ratioInRounds(rounds, "cpuMicros", ["bare", "signet"]) },
      { what: "p99 of client credentials beside it, of unloaded", value: beside.ratio, bar: { atMost: 3 } },
    ],
    intervals: { rounds, beside },
  };
}

async function bareSide(): Promise<Side<"bare">> {
  const child = await startChild<HashQuestion, HashAnswer>("contestants/bare-argon2.ts", []);
  return {
    name: "bare",
    pids: [child.pid],
    prepare: async (interval) => async () => {
      const { answers, seconds, latencies } = await child.ask(interval, interval.seconds + answerSeconds);
      return {
        requests: answers,
        answers,
        seconds,
        perSecond: answers / seconds,
        ...latencies,
        errors: 0,
        loadBusy: 0,
      };
    },
  };
}

async function signInSide({ demo, pid }: RunningSignet): Promise<Side<"signet">> {
  const child = await startChild<SignInQuestion, LoadResult>("load/sign-in-load.ts", []);
  const [redirectUri = ""] = demo.webApp.redirectUris;
  const url = authorizeUrl(demo, await readEndpoints(demo), redirectUri, "openid");
  const answers = { ...demo.user, decision: "allow" };
  return {
    name: "signet",
    pids: [pid],
    prepare: async (interval) => () =>
      child.ask({ url, redirectUri, answers, ...interval }, interval.seconds + answerSeconds),
  };
}

/** Client credentials at a steady rate, alone and while browsers sign in, in turns. */
async function tokensBeside({ load, options }: Bench, { demo, port, pid }: RunningSignet, signIns: Side) {
  const { clientId, clientSecret } = demo.serviceApp;
  const seconds = Math.max(2, options.seconds);
  const plan: LoadPlan = {
    port,
    call: {
      method: "POST",
      path: `${new URL(demo.issuer).pathname}/token`,
      form: { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret },
    },
    expectedText: '"access_token":"eyJ',
    connections: 4,
    perSecond: tokensPerSecond,
    seconds,
  };
  const generator = await load();
  const tokens: Side = {
    name: "tokens",
    pids: [pid],
    prepare: async () => () => generator.ask(plan, seconds + answerSeconds),
  };
  const [unloaded, loaded]: [Outcome[], Outcome[]] = [[], []];
  for (let round = 0; round < options.rounds; round += 1) {
    unloaded.push(await measureInterval(tokens, plan));
    const others = measureInterval(signIns, { seconds: seconds + 1, connections: browsers });
    loaded.push({ ...(await measureInterval(tokens, plan)), cpuMicros: Number.NaN });
    await others;
  }
  const ratio = median(loaded.map(({ p99 }, index) => p99 / (unloaded[index]?.p99 ?? Number.NaN)));
  return { unloaded, loaded, ratio };
}
