/** Management reads: signed by a system account (HMAC), and by bearer token; beside a bare POST with a point read. */
import { createHmac } from "node:crypto";
import type { Bench } from "../bench.ts";
import { newApiClient } from "../contestants/api-client.ts";
import { barePost, startBare } from "../contestants/bare-contestant.ts";
import { runSignet } from "../contestants/signet-command.ts";
import type { RunningSignet } from "../contestants/signet-server.ts";
import { figuresOf, ratioInRounds } from "../load/figure.ts";
import { loadedSide, measureInTurns } from "../load/in-turns.ts";
import type { Call } from "../load/load-plan.ts";
import type { Measured, Row } from "../row.ts";

interface Read {
  readonly call: Call;
  readonly expectedText: string;
}

export const readRows: readonly Row[] = [
  {
    name: "hmac-read",
    title: "HMAC management read",
    measure: (bench) => compare(bench, "hmac-read", signedRead),
  },
  {
    name: "api-read",
    title: "API v1 read by bearer",
    measure: (bench) => compare(bench, "api-read", bearerRead),
  },
];

async function compare(
  bench: Bench,
  name: string,
  readOf: (signet: RunningSignet) => Promise<Read>,
): Promise<Measured> {
  const bare = await startBare("introspect", bench.newFolder(`bare-${name}`));
  const tokens = await bare.seed("access_token", 200);
  const signet = await bench.unlimited();
  const read = await readOf(signet);
  const load = await bench.load();
  const bareCall = { port: bare.port, call: barePost({}), expectedText: bare.expectedText };
  const sides = [
    loadedSide(load, { name: "bare", pids: bare.pids }, async () => ({
      ...bareCall,
      vary: { kind: "cycle", field: "token", values: tokens },
    })),
    loadedSide(load, { name: "signet", pids: [signet.pid] }, async () => ({ port: signet.port, ...read })),
  ];
  const rounds = await measureInTurns<string>(sides, bench.options);
  return {
    figures: figuresOf(rounds),
    checks: [
      {
        what: "CPU of bare",
        value: ratioInRounds(rounds, "cpuMicros", ["bare", "signet"]),
        bar: { atLeast: 0.65 },
      },
      { what: "rate of bare", value: ratioInRounds(rounds, "perSecond", ["signet", "bare"]) },
    ],
    intervals: rounds,
  };
}

/** One application's record. A call without a body signs the empty string. */
async function signedRead({ demo }: RunningSignet): Promise<Read> {
  const { publicKey, secretKey } = demo.administratorAccount;
  const signature = createHmac("sha256", secretKey).update("").digest("base64");
  const { clientId } = demo.webApp;
  return {
    call: {
      method: "GET",
      path: `/legacy/api/oauth/clients/${clientId}`,
      headers: { Authorization: `${publicKey}:${signature}` },
    },
    expectedText: clientId,
  };
}

/** One user's record. */
async function bearerRead(signet: RunningSignet): Promise<Read> {
  const { demo, settings } = signet;
  const headers = await newApiClient(signet, ["signet:users:read"]);
  const { id = "" } = await runSignet(settings, [
    ...["user", "create", "--org", demo.org, "--email", "read@bench.example"],
    ...["--role", "standard", "--verified", "--generate"],
  ]);
  const path = `/api/v1/organisations/${demo.org}/users/${id}`;
  return { call: { method: "GET", path, headers }, expectedText: id };
}
