/** Spans by OpenTelemetry's SDK, sent by OTLP over HTTP. Loaded only where OTEL_EXPORTER_OTLP_ENDPOINT is set. */
import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { type Sampling, startTracing, type Tracing, type TracingSettings } from "./tracing.ts";

export interface OtelOptions extends TracingSettings {
  readonly version: string;
  /** Called with why spans were not taken, once a minute at most. */
  onFailure(error: unknown): void;
}

const TELL_MS = 60_000;

/** @returns the end, when what is left was sent */
export function openTelemetry({
  version,
  serviceName,
  sampling,
  batches,
  timeoutMs,
  headers,
  onFailure,
}: OtelOptions): () => Promise<void> {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ "service.name": serviceName, "service.version": version }))
    .merge(detectResources({ detectors: [envDetector] }));
  const exporter = telling(
    new OTLPTraceExporter({ timeoutMillis: timeoutMs, headers: { ...headers } }),
    onFailure,
  );
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(sampling),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...batches })],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(contexts);
  const end = startTracing(tracingBy(provider.getTracer("signet", version)));
  return async () => {
    end();
    await provider.shutdown().catch(() => {});
    context.disable();
  };
}

function samplerOf({ isByParent, ratio }: Sampling): Sampler {
  const root = new TraceIdRatioBasedSampler(ratio);
  return isByParent ? new ParentBasedSampler({ root }) : root;
}

function telling(exporter: SpanExporter, onFailure: OtelOptions["onFailure"]): SpanExporter {
  let quietUntil = 0;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const now = performance.now();
        // 0: taken (ExportResultCode.SUCCESS).
        if (result.code !== 0 && now >= quietUntil) {
          quietUntil = now + TELL_MS;
          onFailure(result.error);
        }
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

function tracingBy(tracer: Tracer): Tracing {
  return {
    span: (name, attributes, work) =>
      tracer.startActiveSpan(name, { attributes }, async (span) => {
        try {
          return await work();
        } catch (error) {
          fail(span, error);
          throw error;
        } finally {
          span.end();
        }
      }),
    request: (request, work) => {
      const { method, route, traceParent } = request;
      const parent = traceParent === undefined ? ROOT_CONTEXT : contextOf(traceParent);
      const attributes = { "http.request.method": method, "http.route": route };
      const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
      request.traceId = span.spanContext().traceId;
      request.onAnswered = (status) => {
        span.setAttribute("http.response.status_code", status);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      };
      return context.with(trace.setSpan(parent, span), work);
    },
    past: (name, { parent, milliseconds }) => {
      const endTime = Date.now();
      const options = { startTime: endTime - milliseconds };
      tracer.startSpan(name, options, contextOf(parent)).end(endTime);
    },
    parent: () => {
      const found = trace.getActiveSpan()?.spanContext();
      return found && `00-${found.traceId}-${found.spanId}-${found.traceFlags.toString(16).padStart(2, "0")}`;
    },
  };
}

function fail(span: Span, error: unknown): void {
  span.setAttribute("error.type", error instanceof Error ? error.name : "unknown");
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** A valid `traceparent`: 00-<trace>-<span>-<flags>. */
function contextOf(traceParent: string): Context {
  const [, traceId = "", spanId = "", flags = "00"] = traceParent.split("-");
  const remote = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, remote);
}
