/** What an act costs that webhooks are told of: the same server without any, and with five whose receivers are away. */
import { randomUUID } from "node:crypto";
import type { Bench } from "../bench.ts";
import { noLimits } from "../bench.ts";
import { newApiClient } from "../contestants/api-client.ts";
import { runSignet } from "../contestants/signet-command.ts";
import { type RunningSignet, startSignet } from "../contestants/signet-server.ts";
import { figuresOf, ratioInRounds } from "../load/figure.ts";
import { type LoadProcess, loadedSide, measureInTurns } from "../load/in-turns.ts";
import type { Measured, Row } from "../row.ts";

export const webhooksRow: Row = { name: "webhooks", title: "Acts that webhooks are told of", measure };

/** More than a server on two cores has done; one that is faster ends its interval early. */
const ACTS_PER_SECOND = 4_000;
/** Nobody listens there, so that what is measured is queueing and not sending. */
const NOBODY = "http://127.0.0.1:9/";

async function measure(bench: Bench): Promise<Measured> {
  const [none, one, five] = [
    await startSignet(bench.newFolder("no-webhooks"), { environment: noLimits }),
    await startSignet(bench.newFolder("one-webhook"), { environment: noLimits }),
    await startSignet(bench.newFolder("five-webhooks"), { environment: noLimits }),
  ];
  await subscribe(one, 1);
  await subscribe(five, 5);
  const load = await bench.load();
  const sides = [
    await sideOf("none", none, load),
    await sideOf("one", one, load),
    await sideOf("five", five, load),
  ];
  const rounds = await measureInTurns(sides, bench.options);
  const figures = figuresOf(rounds);
  return {
    figures,
    checks: [
      {
        what: "CPU of an act with a webhook",
        value: ratioInRounds(rounds, "cpuMicros", ["one", "none"]),
        bar: { atMost: 1.05 },
      },
      { what: "with five", value: ratioInRounds(rounds, "cpuMicros", ["five", "none"]) },
      { what: "events queued a second", value: figures["one"]?.perSecond ?? Number.NaN, unit: "/s" },
    ],
    notes: ["queueing runs beside the acts, in the same process, and is in the figure"],
    intervals: rounds,
  };
}

async function subscribe({ settings, demo }: RunningSignet, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1)
    await runSignet(settings, ["webhook", "create", "--org", demo.org, "--url", NOBODY, "--event", "*"]);
}

/** A group is made: a transaction with an audit event. */
async function sideOf<Name extends string>(name: Name, signet: RunningSignet, load: LoadProcess) {
  const headers = await newApiClient(signet, ["signet:groups:write"]);
  const path = `/api/v1/organisations/${signet.demo.org}/groups`;
  const plan = { port: signet.port, call: { method: "POST", path, headers }, expectedStatus: 201 } as const;
  return loadedSide(load, { name, pids: [signet.pid] }, async ({ seconds }) => ({
    ...{ ...plan, expectedText: "displayName" },
    vary: {
      kind: "bodies",
      values: Array.from({ length: Math.ceil(ACTS_PER_SECOND * seconds) }, () =>
        JSON.stringify({ displayName: randomUUID() }),
      ),
    },
  }));
}
