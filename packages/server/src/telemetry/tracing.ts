/**
 * Spans (operable.md, "Traces"), where OTEL_EXPORTER_OTLP_ENDPOINT is set. Everywhere else the functions here call what they are
 * given and nothing more: no object is made for a span that nobody wants.
 */
import type { Attributes } from "@opentelemetry/api";

export interface RequestOfTrace {
  readonly method: string;
  /** The pattern. */
  readonly route: string;
  /** W3C `traceparent` of a trusted proxy. */
  readonly traceParent: string | undefined;
  traceId: string | undefined;
  /** Called with the answer's status. */
  onAnswered: ((status: number) => void) | undefined;
}

export interface TracingSettings {
  /** Of all signals: traces go to `/v1/traces` there. */
  readonly endpoint: string;
  readonly serviceName: string;
  readonly sampling: Sampling;
  readonly batches: SpanBatches;
  /** Of one export with its retries. */
  readonly timeoutMs: number;
  /** Those that are in files; the SDK reads those of the environment itself. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Sampling {
  /** Whether a span that a trusted proxy has begun is sampled as the proxy says. */
  readonly isByParent: boolean;
  /** Of all other traces, 0 to 1. */
  readonly ratio: number;
}

/** By the SDK's names. */
export interface SpanBatches {
  readonly scheduledDelayMillis: number;
  readonly exportTimeoutMillis: number;
  readonly maxQueueSize: number;
  readonly maxExportBatchSize: number;
}

export interface Tracing {
  /** Ends with the promise; an error is its status, without its message, which may have values. */
  span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>;
  /** The span of a request, in which `work` runs; it ends when the request is answered. */
  request<T>(request: RequestOfTrace, work: () => T): T;
  /** `traceparent` of what runs now. */
  parent(): string | undefined;
  /** A span that ends now, of another trace: that of `parent`, a `traceparent` of ours. */
  past(name: string, of: { readonly parent: string; readonly milliseconds: number }): void;
}

let tracing: Tracing | undefined;

export const currentTracing = (): Tracing | undefined => tracing;

/** @returns the end */
export function startTracing(started: Tracing): () => void {
  tracing = started;
  return () => {
    if (tracing === started) tracing = undefined;
  };
}

/** Calls with up to four arguments, in a span of that name. */
export function inSpan<A, B, C, D, R>(
  name: string,
  call: (a: A, b: B, c: C, d: D) => Promise<R>,
  ...args: readonly [A, B, C, D]
): Promise<R>;
export function inSpan<A, B, C, R>(
  name: string,
  call: (a: A, b: B, c: C) => Promise<R>,
  ...args: readonly [A, B, C]
): Promise<R>;
export function inSpan<A, B, R>(
  name: string,
  call: (a: A, b: B) => Promise<R>,
  ...args: readonly [A, B]
): Promise<R>;
export function inSpan<A, R>(name: string, call: (a: A) => Promise<R>, ...args: readonly [A]): Promise<R>;
// Fixed parameters, as a list of them would be made for each call.
export function inSpan<R>(
  name: string,
  call: (a: unknown, b: unknown, c: unknown, d: unknown) => Promise<R>,
  a?: unknown,
  b?: unknown,
  c?: unknown,
  d?: unknown,
): Promise<R> {
  return tracing === undefined ? call(a, b, c, d) : spanAround(tracing, name, call, [a, b, c, d]);
}

/** Apart: a function that has a closure makes room for its variables at each call. */
const spanAround = <R>(
  { span }: Tracing,
  name: string,
  call: (a: unknown, b: unknown, c: unknown, d: unknown) => Promise<R>,
  [a, b, c, d]: readonly [unknown, unknown, unknown, unknown],
): Promise<R> => span(name, {}, () => call(a, b, c, d));
