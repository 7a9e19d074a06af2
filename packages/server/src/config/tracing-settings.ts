/** Traces, by OpenTelemetry's own variables: the SDK reads all others itself. */
import { type Env, text } from "./config-values.ts";

export interface TracingSettings {
  readonly serviceName: string;
}

const PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL";

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
  return { serviceName: text(env, "OTEL_SERVICE_NAME") ?? "signet" };
}
