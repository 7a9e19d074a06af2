/** Reads spans from a request of OTLP (opentelemetry-proto, trace/v1/trace.proto), as far as tests ask. */

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  readonly name: string;
}

interface Field {
  readonly number: number;
  readonly bytes: Buffer;
}

/** ExportTraceServiceRequest.resource_spans = 1, ResourceSpans.scope_spans = 2, ScopeSpans.spans = 2. */
export const readSpans = (message: Buffer): ReceivedSpan[] =>
  inside(message, 1)
    .flatMap((resourceSpans) => inside(resourceSpans, 2))
    .flatMap((scopeSpans) => inside(scopeSpans, 2))
    .map((span) => {
      const text = (number: number, encoding: BufferEncoding) =>
        inside(span, number)[0]?.toString(encoding) ?? "";
      // Span: trace_id = 1, span_id = 2, parent_span_id = 4, name = 5.
      return {
        traceId: text(1, "hex"),
        spanId: text(2, "hex"),
        parentSpanId: text(4, "hex"),
        name: text(5, "utf8"),
      };
    });

const inside = (message: Buffer, number: number): Buffer[] =>
  fieldsOf(message).flatMap((field) => (field.number === number ? [field.bytes] : []));

/** Length-delimited fields; others are passed over (protobuf.dev, "Encoding"). */
function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const wireType = tag % 8;
    if (wireType === 0) varint();
    else if (wireType === 1) at += 8;
    else if (wireType === 5) at += 4;
    else {
      const length = varint();
      fields.push({ number: Math.floor(tag / 8), bytes: message.subarray(at, at + length) });
      at += length;
    }
  }
  return fields;
}
