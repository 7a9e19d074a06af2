/** What it costs that every token becomes a leaf of the organisation's ledger; and a ledger of very many leaves beside a new one. */
import { randomInt } from "node:crypto";
import type { Bench } from "../bench.ts";
import { noLimits } from "../bench.ts";
import { runSignet } from "../contestants/signet-command.ts";
import { type RunningSignet, startSignet } from "../contestants/signet-server.ts";
import { figuresOf, ratioInRounds } from "../load/figure.ts";
import { loadedSide, measureInTurns } from "../load/in-turns.ts";
import { percentile } from "../load/statistics.ts";
import type { Measured, Row } from "../row.ts";
import { ledgerInput } from "../scale/ledger-input.ts";
import { type Growing, onBothDatabases } from "../scale/on-both-databases.ts";
import { tokensOf } from "./pool-row.ts";

const BARS = { cost: 1.05, appendRate: 0.9, checkpointMs: 50, proofMs: 5 };

export const ledgerRow: Row = { name: "ledger", title: "Tokens in the ledger", measure };

export const leavesRow: Row = {
  name: "leaves",
  title: "A ledger of many leaves, beside a new one",
  grows: true,
  measure: (bench) => onBothDatabases(bench, "leaves", (growing) => measureLeaves(bench, growing)),
};

/** Appending, signing and cosigning go on beside the tokens, in the same process, and are in the figure. */
async function measure(bench: Bench): Promise<Measured> {
  const without = await startSignet(bench.newFolder("no-ledger"), { environment: noLimits });
  const logged = await startSignet(bench.newFolder("ledger"), { environment: noLimits });
  await showLedger(logged);
  const load = await bench.load();
  const side = <Name extends string>(name: Name, signet: RunningSignet) =>
    loadedSide<Name>(load, { name, pids: [signet.pid] }, async () =>
      tokensOf(signet, signet.demo.serviceApp),
    );
  const sides = [side<"without" | "with">("without", without), side<"without" | "with">("with", logged)];
  const rounds = await measureInTurns(sides, bench.options);
  return {
    figures: figuresOf(rounds),
    checks: [
      {
        what: "CPU of a token, of one without",
        value: ratioInRounds(rounds, "cpuMicros", ["with", "without"]),
        bar: { atMost: BARS.cost },
      },
      { what: "rate, of that without", value: ratioInRounds(rounds, "perSecond", ["with", "without"]) },
    ],
    intervals: rounds,
  };
}

const showLedger = ({ settings, demo }: RunningSignet) =>
  runSignet(settings, ["org", "set", "--org", demo.org, "--ledger", "public"]);

const LEAVES = { quick: 50_000, usual: 500_000, scale: 10_000_000 };
const APPENDS = { quick: 10, usual: 40, scale: 40 };
const PROOFS = 200;

async function measureLeaves(bench: Bench, { signet, fill }: Growing) {
  const { demo } = signet;
  const count = LEAVES[bench.options.size];
  await showLedger(signet);
  const { seconds } = await fill({ kind: "fill-ledger", orgId: demo.org, count });
  const proofs = await timeProofs(signet, count);
  // Its own worker would append what is timed.
  await signet.stop();
  const orgIds = [demo.otherOrg.org, demo.org];
  const { appends } = await fill({ kind: "time-ledger", orgIds, count: APPENDS[bench.options.size] });
  const [empty, full] = appends ?? [];
  if (!empty || !full) throw new Error("no appends were timed");
  return {
    figures: {},
    checks: [
      {
        what: `CPU of an append to a new ledger, of one to ${count} leaves`,
        value: empty.cpuMs / full.cpuMs,
        bar: { atLeast: BARS.appendRate },
      },
      { what: "rate", value: empty.ms / full.ms, bar: { atLeast: BARS.appendRate } },
      { what: "entries appended a second", value: full.perSecond, unit: "/s" },
      {
        what: "one entry and its checkpoint",
        value: full.checkpointMs,
        unit: "ms",
        bar: { atMost: BARS.checkpointMs },
      },
      {
        what: "a proof, p95",
        value: percentile(proofs, 0.95),
        unit: "ms",
        bar: { atMost: BARS.proofMs },
      },
      { what: "filled in", value: seconds, unit: "s" },
    ],
    intervals: { appends, proofs },
  };
}

/** One after the other, each of another leaf. @returns milliseconds, sorted */
async function timeProofs({ port, demo }: RunningSignet, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < PROOFS; index += 1) {
    const { sha256 } = ledgerInput(randomInt(count));
    const begun = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/ledger/${demo.org}/proof?sha256=${sha256}`);
    const text = await answer.text();
    times.push(performance.now() - begun);
    if (answer.status !== 200 || !text.startsWith("c2sp.org/tlog-proof@v1\n"))
      throw new Error(`no proof: ${text.slice(0, 500)}`);
  }
  // The first ones open connections and files.
  return times.slice(PROOFS / 10).toSorted((one, other) => one - other);
}
