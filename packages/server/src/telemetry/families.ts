/**
 * Metric families (operable.md, "See"). A feature declares its own beside its rules, for the process, as Prometheus sees it; counting
 * is adding one to a number. Histograms and the exposition do nothing until a metrics listener starts them.
 */

/** As prom-client has it: how the values of several workers become one. */
export type Aggregator = "sum" | "max";

/** A metric as its registry asks for it. */
export interface Exposed {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly aggregator: Aggregator;
  readonly values: readonly Sample[];
}

export interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

export interface Family {
  readonly name: string;
  get(): Promise<Exposed>;
}

export interface FamilyText {
  readonly name: `${string}_${string}`;
  readonly help: string;
}

export interface Cell {
  value: number;
}

/** Of one family; values beyond are counted together, so that nobody can make any number of them. */
const MAX_CELLS = 2_000;
const OTHER = "other";

const declared = new Map<string, Family>();

/** Those of features; the registry adds what a service and Node itself have. */
export const declaredFamilies = (): readonly Family[] => [...declared.values()];

function declare<F extends Family>(family: F): F {
  if (declared.has(family.name)) throw new Error(`${family.name} is declared twice`);
  declared.set(family.name, family);
  return family;
}

let listeners = 0;

/** Whether anybody asks for metrics. */
export const isMeasuring = (): boolean => listeners > 0;

/** @returns the end */
export function startMeasuring(): () => void {
  listeners++;
  return () => {
    listeners--;
  };
}

export interface Counter extends Family {
  /** By the labels' values, in the order of their names. Allocates at their first use only. */
  at(first?: string, second?: string, third?: string): Cell;
}

export const counter = (text: FamilyText, labelNames: readonly string[] = []): Counter =>
  declare(cellFamily({ ...text, type: "counter", aggregator: "sum" }, labelNames));

/** Goes up and down with what is there in this process. */
export const level = (text: FamilyText, labelNames: readonly string[] = []): Counter =>
  declare(cellFamily({ ...text, type: "gauge", aggregator: "sum" }, labelNames));

function cellFamily(head: Omit<Exposed, "values">, labelNames: readonly string[]): Counter {
  const cells = cellsOf<Cell>(() => ({ value: 0 }));
  // Without labels there is one from the start: a rate needs the zero before the first.
  if (labelNames.length === 0) cells.at();
  return {
    name: head.name,
    at: cells.at,
    get: async () => ({
      ...head,
      values: cells.all().map(([labels, { value }]) => ({ value, labels: named(labelNames, labels) })),
    }),
  };
}

export interface Histogram extends Family {
  /** Does nothing while nobody asks for metrics. */
  observe(seconds: number, first?: string, second?: string, third?: string): void;
}

interface Distribution {
  /** Of each bucket alone. */
  readonly counts: number[];
  sum: number;
  count: number;
}

/** From a cached answer to a statement's time-out. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function histogram(
  text: FamilyText,
  labelNames: readonly string[] = [],
  bounds: readonly number[] = SECONDS,
): Histogram {
  const head = { ...text, type: "histogram", aggregator: "sum" } as const;
  const cells = cellsOf<Distribution>(() => ({ counts: bounds.map(() => 0), sum: 0, count: 0 }));
  if (labelNames.length === 0) cells.at();
  return declare({
    name: head.name,
    observe: (seconds, first, second, third) => {
      if (listeners === 0) return;
      const cell = cells.at(first, second, third);
      cell.sum += seconds;
      cell.count++;
      const bucket = bounds.findIndex((bound) => seconds <= bound);
      if (bucket >= 0) cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1;
    },
    get: async () => ({
      ...head,
      values: cells
        .all()
        .flatMap(([labels, one]) => samplesOf(head.name, one, bounds, named(labelNames, labels))),
    }),
  });
}

function samplesOf(
  name: string,
  { counts, sum, count }: Distribution,
  bounds: readonly number[],
  labels: Record<string, string>,
): Sample[] {
  let below = 0;
  const buckets = bounds.map((le, at): Sample => {
    below += counts[at] ?? 0;
    return { metricName: `${name}_bucket`, value: below, labels: { le, ...labels } };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, value: count, labels: { le: "+Inf", ...labels } },
    { metricName: `${name}_sum`, value: sum, labels },
    { metricName: `${name}_count`, value: count, labels },
  ];
}

export type Reading = number | ReadonlyArray<readonly [labels: readonly string[], value: number]>;

/** Read when it is asked for; one that can't be read is missing in the answer, and nothing else is. */
export const gauge = (
  text: FamilyText & { readonly aggregator: Aggregator; readonly type?: "counter" },
  labelNames: readonly string[],
  read: () => Reading | undefined | Promise<Reading | undefined>,
): Family => ({
  name: text.name,
  get: async () => {
    const found = await Promise.resolve()
      .then(read)
      .catch(() => undefined);
    const rows = typeof found === "number" ? [[[], found] as const] : (found ?? []);
    const values = rows.map(([labels, value]) => ({ value, labels: named(labelNames, labels) }));
    return { type: "gauge", ...text, values };
  },
});

/** What costs a statement is read again after this time only, however often and by however many it is asked for. */
export function readSometimes<T>(everyMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (!last || now - last.at >= everyMs) last = { at: now, value: read() };
    return last.value;
  };
}

const named = (names: readonly string[], values: readonly (string | undefined)[]): Record<string, string> =>
  Object.fromEntries(names.map((name, at) => [name, values[at] ?? ""]));

/** By up to three labels, found without building a key. */
function cellsOf<T>(make: () => T) {
  const root = new Map<string, Map<string, Map<string, T>>>();
  let count = 0;
  const add = (first: string, second: string, third: string): T => {
    if (count >= MAX_CELLS && first !== OTHER) return at(OTHER, OTHER, OTHER);
    count++;
    const ofFirst = root.get(first) ?? new Map<string, Map<string, T>>();
    const ofSecond = ofFirst.get(second) ?? new Map<string, T>();
    const cell = make();
    root.set(first, ofFirst.set(second, ofSecond.set(third, cell)));
    return cell;
  };
  const at = (first = "", second = "", third = ""): T =>
    root.get(first)?.get(second)?.get(third) ?? add(first, second, third);
  const all = (): Array<readonly [readonly string[], T]> =>
    [...root].flatMap(([first, ofFirst]) =>
      [...ofFirst].flatMap(([second, ofSecond]) =>
        [...ofSecond].map(([third, cell]) => [[first, second, third], cell] as const),
      ),
    );
  return { at, all };
}
