/** The text that Prometheus reads: families of features and of the service, and what prom-client tells of Node. */
import { AggregatorRegistry, collectDefaultMetrics, Registry } from "prom-client";
import { declaredFamilies, type Exposed, type Family, startMeasuring } from "./families.ts";

export const CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

export interface Exposition {
  text(): Promise<string>;
  /** For the process that sums up its workers. */
  values(): Promise<Exposed[]>;
  close(): void;
}

/** @param own what is read of one service */
export function openExposition(own: readonly Family[]): Exposition {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const metric of registry.getMetricsAsArray()) {
    // Gauges named as counters, which promtool refuses.
    if (metric.name.endsWith("_total") && isGauge(metric)) registry.removeSingleMetric(metric.name);
  }
  for (const family of own) registry.registerMetric(family as never);
  // Each time: features are loaded when they are needed.
  const complete = () => {
    for (const family of declaredFamilies()) registry.registerMetric(family as never);
    return registry;
  };
  const end = startMeasuring();
  return {
    text: () => complete().metrics(),
    values: async () => (await complete().getMetricsAsJSON()) as unknown as Exposed[],
    close: end,
  };
}

const isGauge = (metric: object): boolean => "type" in metric && metric.type === "gauge";

/** Of several processes, as if they were one. */
export const textOf = (all: readonly (readonly Exposed[])[]): Promise<string> =>
  AggregatorRegistry.aggregate(all as never).metrics();

/** What has ended counts on: a counter never goes down. */
export async function sumOfEnded(all: readonly (readonly Exposed[])[]): Promise<Exposed[]> {
  const counts = all.map((values) => values.filter(({ type }) => type !== "gauge"));
  return (await AggregatorRegistry.aggregate(counts as never).getMetricsAsJSON()) as unknown as Exposed[];
}
