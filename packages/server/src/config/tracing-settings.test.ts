import assert from "node:assert/strict";
import { test } from "node:test";
import { tracingSettings } from "./tracing-settings.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

function read(env: Record<string, string>) {
  const faults: string[] = [];
  return { settings: tracingSettings(env, faults), faults };
}

test("traces only with an endpoint, and not where the SDK is disabled", () => {
  assert.deepEqual(read({ OTEL_SERVICE_NAME: "a" }), { settings: undefined, faults: [] });
  assert.equal(read({ ...endpoint, OTEL_SDK_DISABLED: "TRUE" }).settings, undefined);
  assert.deepEqual(read(endpoint), {
    settings: {
      endpoint: "http://127.0.0.1:4318",
      serviceName: "signet",
      sampling: { isByParent: true, ratio: 1 },
      batches: {
        ...{ scheduledDelayMillis: 5_000, exportTimeoutMillis: 30_000 },
        ...{ maxQueueSize: 2_048, maxExportBatchSize: 512 },
      },
      timeoutMs: 3_000,
    },
    faults: [],
  });
});

test("samples as OTEL_TRACES_SAMPLER says", () => {
  const sampled = (sampler: string, ratio?: string) =>
    read({
      ...endpoint,
      OTEL_TRACES_SAMPLER: sampler,
      ...(ratio === undefined ? {} : { OTEL_TRACES_SAMPLER_ARG: ratio }),
    }).settings?.sampling;
  assert.deepEqual(sampled("always_off"), { isByParent: false, ratio: 0 });
  assert.deepEqual(sampled("parentbased_traceidratio", "0.25"), { isByParent: true, ratio: 0.25 });
  assert.deepEqual(sampled("traceidratio"), { isByParent: false, ratio: 1 });
  assert.deepEqual(sampled("always_on", "0.25"), { isByParent: false, ratio: 1 });
});

test("an export never takes longer than a stop may wait", () => {
  const timeout = (env: Record<string, string>) => read({ ...endpoint, ...env }).settings?.timeoutMs;
  assert.equal(timeout({ OTEL_EXPORTER_OTLP_TIMEOUT: "10000" }), 5_000);
  const both = { OTEL_EXPORTER_OTLP_TIMEOUT: "10000", OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "200" };
  assert.equal(timeout(both), 200);
});

test("names what it can't use", () => {
  for (const [name, value, why] of [
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "nowhere", /OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL/],
    [
      "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
      "grpc",
      /OTEL_EXPORTER_OTLP_TRACES_PROTOCOL must be http\/protobuf/,
    ],
    ["OTEL_TRACES_SAMPLER", "jaeger_remote", /OTEL_TRACES_SAMPLER must be one of always_on, /],
    ["OTEL_BSP_SCHEDULE_DELAY", "soon", /OTEL_BSP_SCHEDULE_DELAY must be an integer from 0/],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "1s", /OTEL_EXPORTER_OTLP_TIMEOUT must be an integer from 1/],
    ["OTEL_BSP_MAX_QUEUE_SIZE", "0", /OTEL_BSP_MAX_QUEUE_SIZE must be an integer from 1/],
  ] as const)
    assert.match(read({ ...endpoint, [name]: value }).faults.join(), why);
  for (const value of ["2", "-1", "half"]) {
    const sampler = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: value };
    assert.match(read({ ...endpoint, ...sampler }).faults.join(), /SAMPLER_ARG must be a number from 0 to 1/);
  }
});
