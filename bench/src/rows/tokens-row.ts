/** Ten thousand refresh tokens, then many, in one organisation: what a refresh costs; and the same for its audit log. */
import type { Bench } from "../bench.ts";
import { contestantOf } from "../contestants/signet-contestant.ts";
import { works } from "../contestants/works.ts";
import { figureOf, type Outcome } from "../load/figure.ts";
import { measureInterval } from "../load/in-turns.ts";
import { median } from "../load/statistics.ts";
import type { Row } from "../row.ts";
import { type Growing, onBothDatabases } from "../scale/on-both-databases.ts";
import { sideOf } from "./compared-rows.ts";

const FEW = 10_000;
const TOKENS = { quick: 50_000, usual: 300_000, scale: 10_000_000 };
const EVENTS = { quick: 50_000, usual: 300_000, scale: 10_000_000 };
const timedEvents = 200;

export const tokensRow: Row = {
  name: "tokens",
  title: "10 thousand → many refresh tokens",
  grows: true,
  measure: (bench) => onBothDatabases(bench, "tokens", (growing) => measureTokens(bench, growing)),
};

export const eventsRow: Row = {
  name: "events",
  title: "10 thousand → many audit events",
  grows: true,
  measure: (bench) => onBothDatabases(bench, "events", (growing) => measureEvents(bench, growing)),
};

async function measureTokens(bench: Bench, { signet, pids, fill }: Growing) {
  const work = works.find(({ name }) => name === "refresh");
  if (work === undefined) throw new Error("no such work");
  const orgId = signet.demo.org;
  const side = await sideOf(work, await contestantOf(signet, pids.slice(1)), await bench.load());
  const outcomes = async () => {
    await measureInterval(side, bench.options);
    const all: Outcome[] = [];
    for (let round = 0; round < bench.options.rounds; round += 1)
      all.push(await measureInterval(side, bench.options));
    return all;
  };
  // The first family, of which the others are copies.
  await measureInterval(side, { seconds: 0.2, connections: 1 });
  await fill({ kind: "copy-families", orgId, from: 1, count: FEW });
  const few = await outcomes();
  const count = TOKENS[bench.options.size];
  const { seconds } = await fill({ kind: "copy-families", orgId, from: FEW + 1, count: count - FEW });
  const many = await outcomes();
  const cpu = (all: readonly Outcome[]) => median(all.map(({ cpuMicros }) => cpuMicros));
  return {
    figures: { [`${FEW}`]: figureOf(few), [`${count}`]: figureOf(many) },
    checks: [
      { what: `CPU of ${FEW} at ${count}`, value: cpu(few) / cpu(many), bar: { atLeast: 0.8 } },
      { what: "filled in", value: seconds, unit: "s" },
    ],
    intervals: { few, many },
  };
}

async function measureEvents(bench: Bench, { signet, fill }: Growing) {
  const orgId = signet.demo.org;
  // Its housekeeping would chain the copies meanwhile.
  await signet.stop();
  await fill({ kind: "time-events", orgId, count: timedEvents });
  await fill({ kind: "copy-events", orgId, from: 1, count: FEW });
  const few = await fill({ kind: "time-events", orgId, count: timedEvents });
  const count = EVENTS[bench.options.size];
  const { seconds } = await fill({ kind: "copy-events", orgId, from: FEW + 1, count: count - FEW });
  const many = await fill({ kind: "time-events", orgId, count: timedEvents });
  return {
    figures: {},
    checks: [
      {
        what: `write and newest page, CPU of ${FEW} at ${count}`,
        value: few.cpuMs / many.cpuMs,
        bar: { atLeast: 0.8 },
      },
      { what: "time", value: few.seconds / many.seconds, bar: { atLeast: 0.8 } },
      { what: "filled in", value: seconds, unit: "s" },
    ],
    intervals: { few, many },
  };
}
