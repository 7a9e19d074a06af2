/** One organisation, then many: the same requests spread over all of them, the start, making one, the memory of those in use. */

import { copyId } from "../../../packages/server/src/testing/fixtures/copied-rows.ts";
import type { Bench } from "../bench.ts";
import { insideProbe, readInside } from "../contestants/inside-probe.ts";
import { type RunningSignet, startProcess, stopProcess } from "../contestants/signet-server.ts";
import { figuresOf, type Outcome, type Round, ratioInRounds } from "../load/figure.ts";
import { loadedSide, measureInterval } from "../load/in-turns.ts";
import type { Call } from "../load/load-plan.ts";
import { median } from "../load/statistics.ts";
import type { Row } from "../row.ts";
import { type Growing, onBothDatabases } from "../scale/on-both-databases.ts";
import { measureStart } from "./start-row.ts";

/** A few hundred are lost in what else the memory holds: a quick run does not judge. */
const COUNTS = { quick: 500, usual: 5_000, scale: 100_000 };
/** As many as the caches of organisations and applications hold a quarter of. */
const WARM = { quick: 300, usual: 2_000, scale: 5_000 };
const timedOrganisations = 100;

export const organisationsRow: Row = {
  name: "organisations",
  title: "1 → many organisations",
  grows: true,
  measure: (bench) => onBothDatabases(bench, "organisations", (growing) => measure(bench, growing)),
};

async function measure(bench: Bench, { database, signet, folder, pids, fill }: Growing) {
  const { size, rounds } = bench.options;
  const count = COUNTS[size];
  const first = await fill({ kind: "make-organisations", count: timedOrganisations });
  if (first.last === undefined) throw new Error("no organisation was made");
  const { orgId, clientId, clientSecret } = first.last;
  await signet.stop();
  const startFew = await measureStarts(signet, folder, rounds);
  const { seconds: filled } = await fill({ kind: "copy-organisations", orgId, from: 1, count });
  const startMany = await measureStarts(signet, folder, rounds);
  const last = await fill({ kind: "make-organisations", count: timedOrganisations });

  const probe = insideProbe(bench.newFolder(`organisations-probe-${database}`));
  const settings = { ...signet.settings, ...probe.environment };
  const child = await startProcess(settings, { port: signet.port, logFile: `${folder}/signet.log` });
  const pid = child.pid ?? 0;
  const run = await runner(bench, { port: signet.port, pids: [pid, ...pids.slice(1)], clientSecret });
  const one = [{ orgId, clientId }];
  const warm = Math.min(count, WARM[size]);
  const many = Array.from({ length: warm }, (_, index) => {
    // Spread over all of them.
    const number = 1 + Math.floor((index * count) / warm);
    return { orgId: copyId(0, number), clientId: copyId(1, number) };
  });
  await run(one);
  const half = Math.floor(warm / 2);
  // Of the first half, code that is compiled is a part.
  await askAll(run, many.slice(0, half));
  const before = (await readInside(pid, probe.file)).heap;
  await askAll(run, many.slice(half));
  const each = ((await readInside(pid, probe.file)).heap - before) / (warm - half);
  const measured: Round<"one" | "many">[] = [];
  for (let round = 0; round < rounds; round += 1)
    measured.push({ one: await run(one), many: await run(many) });
  await stopProcess(child);
  return {
    figures: figuresOf(measured),
    checks: [
      {
        what: `CPU of 1 at ${count}`,
        value: ratioInRounds(measured, "cpuMicros", ["one", "many"]),
        bar: { atLeast: 0.9 },
      },
      { what: "CPU of the start", value: startMany / startFew, bar: { atMost: 1.1 } },
      { what: "making the last", value: last.cpuMs / first.cpuMs, bar: { atMost: 1.2 } },
      {
        what: "memory of a warm one",
        value: each / 1024,
        unit: "KB",
        ...(size === "quick" ? {} : { bar: { atMost: 3 } }),
      },
      { what: "filled in", value: filled, unit: "s" },
    ],
    intervals: { measured, startFew, startMany, first, last },
  };
}

/** The first request of an organisation makes its key, on PostgreSQL the second reads it: what follows is what is measured. */
const PASSES = 3;

/** Each of them so many times: intervals that end before the last of them go on with the next. */
async function askAll(
  run: (clients: readonly Client[]) => Promise<Outcome>,
  clients: readonly Client[],
): Promise<void> {
  for (let pass = 0; pass < PASSES; pass += 1)
    for (let next = 0; next < clients.length; ) next += Math.max(1, (await run(clients.slice(next))).answers);
}

async function measureStarts(signet: RunningSignet, folder: string, rounds: number): Promise<number> {
  const starts: number[] = [];
  for (let round = 0; round < rounds; round += 1)
    starts.push((await measureStart(signet, folder)).cpuSeconds);
  return median(starts);
}

interface Client {
  readonly orgId: string;
  readonly clientId: string;
}

/** Runs one interval over these clients in turn. */
async function runner(
  bench: Bench,
  { port, pids, clientSecret }: { port: number; pids: readonly number[]; clientSecret: string },
): Promise<(clients: readonly Client[]) => Promise<Outcome>> {
  const load = await bench.load();
  const callOf = ({ orgId, clientId }: Client): Call => ({
    method: "POST",
    path: `/oauth/${orgId}/token`,
    form: { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret },
  });
  return (clients) => {
    const calls = clients.map(callOf);
    const [call = { method: "GET", path: "/" } as const] = calls;
    const side = loadedSide(load, { name: "signet", pids }, async () => ({
      ...{ port, call, expectedText: '"access_token":"eyJ' },
      vary: { kind: "calls", calls },
    }));
    return measureInterval(side, bench.options);
  };
}
