/** Traces, by OpenTelemetry's own variables. Those of the exporter and of the resource are read by the SDK itself. */
import type { Sampling, SpanBatches, TracingSettings } from "../telemetry/tracing.ts";
import { type Env, text, wholeNumber } from "./config-values.ts";
import { secretsOfTracing, twinOf } from "./setting-names.ts";

const PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL";
/** Shorter than the SDK's ten seconds, and never longer than this: a server that stops waits for the last export, and has ten in all. */
const MAX_TIMEOUT_MS = 5_000;
const DEFAULT_TIMEOUT_MS = 3_000;

const SAMPLER = "OTEL_TRACES_SAMPLER";
const SAMPLERS = ["always_on", "always_off", "traceidratio"];
const BY_PARENT = "parentbased_";

/** @returns undefined: nothing is traced, and the SDK isn't loaded */
export function tracingSettings(env: Env, faults: string[]): TracingSettings | undefined {
  const endpoint = text(env, "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (endpoint === undefined || text(env, "OTEL_SDK_DISABLED")?.toLowerCase() === "true") return undefined;
  const url = URL.parse(endpoint);
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    faults.push("OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL");
  for (const name of [PROTOCOL, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"])
    if ((text(env, name) ?? "http/protobuf") !== "http/protobuf")
      faults.push(`${name} must be http/protobuf: traces are sent by no other`);
  return {
    endpoint,
    serviceName: text(env, "OTEL_SERVICE_NAME") ?? "signet",
    sampling: sampling(env, faults),
    batches: batches(env, faults),
    timeoutMs: timeoutMs(env, faults),
    ...headersOfFiles(env, faults),
  };
}

/** The SDK reads them from the environment alone. @returns those of it too: of one name, the one for traces wins */
function headersOfFiles(env: Env, faults: string[]): Pick<TracingSettings, "headers"> {
  if (!secretsOfTracing.some((name) => text(env, twinOf(name)) !== undefined)) return {};
  const pairs = secretsOfTracing.flatMap((name) => {
    const read = (text(env, name) ?? "").split(",").filter((pair) => pair.trim() !== "");
    return read.map((pair) => {
      const found = headerOf(pair);
      if (!found) faults.push(`${name} must be name=value, comma-separated, values percent-encoded`);
      return found ?? ["", ""];
    });
  });
  return { headers: Object.fromEntries(pairs) };
}

function headerOf(pair: string): readonly [string, string] | undefined {
  const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
  if (name === undefined || value === undefined) return undefined;
  try {
    return [name, decodeURIComponent(value)];
  } catch {
    return undefined;
  }
}

/** OpenTelemetry's "General SDK Configuration". */
function sampling(env: Env, faults: string[]): Sampling {
  const name = text(env, SAMPLER) ?? "parentbased_always_on";
  const isByParent = name.startsWith(BY_PARENT);
  const kind = isByParent ? name.slice(BY_PARENT.length) : name;
  if (!SAMPLERS.includes(kind)) {
    const known = [...SAMPLERS, ...SAMPLERS.map((one) => BY_PARENT + one)];
    faults.push(`${SAMPLER} must be one of ${known.join(", ")}`);
  }
  if (kind !== "traceidratio") return { isByParent, ratio: kind === "always_off" ? 0 : 1 };
  const value = text(env, `${SAMPLER}_ARG`) ?? "1";
  const ratio = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (!(ratio <= 1)) faults.push(`${SAMPLER}_ARG must be a number from 0 to 1`);
  return { isByParent, ratio };
}

function timeoutMs(env: Env, faults: string[]): number {
  const [own, all] = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"] as const;
  const name = text(env, own) === undefined ? all : own;
  const bounds = { fallback: DEFAULT_TIMEOUT_MS, min: 1, max: 600_000 };
  return Math.min(wholeNumber(env, name, bounds, faults), MAX_TIMEOUT_MS);
}

/** OpenTelemetry's "Batch Span Processor". */
function batches(env: Env, faults: string[]): SpanBatches {
  const read = (name: string, fallback: number, max: number, min = 1) =>
    wholeNumber(env, `OTEL_BSP_${name}`, { fallback, min, max }, faults);
  return {
    scheduledDelayMillis: read("SCHEDULE_DELAY", 5_000, 600_000, 0),
    exportTimeoutMillis: read("EXPORT_TIMEOUT", 30_000, 600_000),
    maxQueueSize: read("MAX_QUEUE_SIZE", 2_048, 1_000_000),
    maxExportBatchSize: read("MAX_EXPORT_BATCH_SIZE", 512, 1_000_000),
  };
}
