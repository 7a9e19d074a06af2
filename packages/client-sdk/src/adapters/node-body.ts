/** Bodies of Node requests: whatever the filter reads is put back, so that later body parsers and handlers find every byte. */
import { SignetError } from "../errors.ts";
import { concatBytes } from "../read-body.ts";

/** The used part of `IncomingMessage` (Node ≥ 20), and of its HTTP/2 counterpart. */
export interface NodeBody {
  readonly complete: boolean;
  readonly readableLength: number;
  readonly readableEnded: boolean;
  /** Takes buffered bytes. */
  read(size: number): unknown;
  /** Puts bytes back at the front. */
  unshift(chunk: Uint8Array): unknown;
  /** For `readable`, `end`, `error`, `close`. */
  on(event: string, listener: () => void): unknown;
  /** Removes a listener. */
  off(event: string, listener: () => void): unknown;
}

/** A stream that reads nothing from the request until it is read itself, and then everything. */
export function bodyStreamOf(body: NodeBody, maxBytes: number): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const bytes = await readBytes(body, maxBytes);
        if (bytes.length > 0) controller.enqueue(bytes);
        controller.close();
      },
    },
    // Most filters never read the body.
    { highWaterMark: 0 },
  );
}

async function readBytes(body: NodeBody, maxBytes: number): Promise<Uint8Array> {
  if (!body.readableEnded) return readAndPutBack(body, maxBytes);
  // Where body parsers keep the raw bytes: `rawBody` by convention, `body` with `express.raw()`.
  const { rawBody, body: parsed } = body as { readonly rawBody?: unknown; readonly body?: unknown };
  const raw = rawBody instanceof Uint8Array ? rawBody : parsed;
  // A copy: the reader of a stream may transfer its buffers.
  if (raw instanceof Uint8Array) return Uint8Array.from(raw);
  throw new SignetError("request_malformed", "The body can't be read.", {
    status: 500,
    cause: new Error("a body parser runs before the filter and keeps no raw bytes: mount the filter first"),
  });
}

async function readAndPutBack(body: NodeBody, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  try {
    await readAll(body, maxBytes, chunks);
  } finally {
    // Also if the body is too large or interrupted: later handlers respond as they would without a filter.
    const bytes = concatBytes(chunks);
    if (bytes.length > 0) body.unshift(bytes);
  }
  return concatBytes(chunks);
}

function readAll(body: NodeBody, maxBytes: number, chunks: Uint8Array[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let length = 0;
    const settle = (error?: SignetError) => {
      body.off("readable", readAvailable);
      body.off("error", interrupt);
      body.off("close", interrupt);
      if (error) reject(error);
      else resolve();
    };
    const interrupt = () =>
      settle(new SignetError("request_malformed", "The body was interrupted.", { status: 400 }));
    const readAvailable = () => {
      // Exactly what is buffered: reading past the end would end the stream, and an ended stream takes nothing back.
      while (body.readableLength > 0) {
        const chunk = body.read(body.readableLength);
        if (!(chunk instanceof Uint8Array)) return interrupt();
        chunks.push(chunk);
        length += chunk.length;
        if (length > maxBytes)
          return settle(new SignetError("request_malformed", "The body is too large.", { status: 413 }));
      }
      if (isComplete(body)) settle();
    };
    body.on("readable", readAvailable);
    body.on("error", interrupt);
    body.on("close", interrupt);
    readAvailable();
  });
}

/** With HTTP/2, `complete` is set only after the end, which must not happen yet; there is no public alternative. */
function isComplete(body: NodeBody): boolean {
  const { _readableState: state } = body as { readonly _readableState?: { readonly ended?: boolean } };
  return body.complete || state?.ended === true;
}
