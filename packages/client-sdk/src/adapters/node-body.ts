/**
 * The body of a request of Node, for a filter that may read it or not. What was read is put back, so that the body parsers
 * and handlers after the filter find every byte: a filter never has to know whether somebody else wants the body too.
 */
import { SignetError } from "../errors.ts";

/** What is used of `IncomingMessage` (Node ≥ 20), and of its twin for HTTP/2. */
export interface NodeBody {
  readonly complete: boolean;
  readonly readableLength: number;
  readonly readableEnded: boolean;
  /** Takes bytes that are there. */
  read(size: number): unknown;
  /** Puts bytes back to the front. */
  unshift(chunk: Uint8Array): unknown;
  /** For `readable`, `end`, `error`, `close`. */
  on(event: string, listener: () => void): unknown;
  /** Takes a listener away. */
  off(event: string, listener: () => void): unknown;
}

/** Where body parsers keep the bytes as they came: `rawBody` by a widespread habit, `body` of `express.raw()`. */
interface ParsedBody {
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

/** @returns a stream that takes nothing from the request before somebody reads it, and then all of it */
export function bodyStreamOf(body: NodeBody, maxBytes: number): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const bytes = await bytesOf(body, maxBytes);
        if (bytes.length > 0) controller.enqueue(bytes);
        controller.close();
      },
    },
    // Nothing ahead of the first read: most filters never look at a body.
    { highWaterMark: 0 },
  );
}

async function bytesOf(body: NodeBody, maxBytes: number): Promise<Uint8Array> {
  if (!body.readableEnded) return readAndPutBack(body, maxBytes);
  const { rawBody, body: parsed } = body as ParsedBody;
  const kept = rawBody instanceof Uint8Array ? rawBody : parsed;
  // A copy: whoever reads a stream may take its buffers for good.
  if (kept instanceof Uint8Array) return Uint8Array.from(kept);
  throw new SignetError("request_malformed", "The body cannot be read.", {
    status: 500,
    cause: new Error("a body parser stands before the filter and keeps no raw bytes: put the filter first"),
  });
}

async function readAndPutBack(body: NodeBody, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  try {
    await readAll(body, maxBytes, chunks);
  } finally {
    // Also of a body that is too large or broken off: what comes next answers as it would without a filter.
    const read = joined(chunks);
    if (read.length > 0) body.unshift(read);
  }
  return joined(chunks);
}

function readAll(body: NodeBody, maxBytes: number, chunks: Uint8Array[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let length = 0;
    const stop = (settle: () => void) => {
      body.off("readable", take);
      body.off("error", broken);
      body.off("close", broken);
      settle();
    };
    const broken = () =>
      stop(() => reject(new SignetError("request_malformed", "The body was broken off.", { status: 400 })));
    const take = () => {
      // Exactly what is there: a read past the end makes the stream end, and an ended stream takes nothing back.
      while (body.readableLength > 0) {
        const chunk = body.read(body.readableLength);
        if (!(chunk instanceof Uint8Array)) return broken();
        chunks.push(chunk);
        length += chunk.length;
        if (length > maxBytes) return stop(() => reject(tooLarge()));
      }
      if (isComplete(body)) stop(resolve);
    };
    body.on("readable", take);
    body.on("error", broken);
    body.on("close", broken);
    take();
  });
}

/** With HTTP/2 `complete` is told only after the end, which must not come yet; of that there is no public sign. */
function isComplete(body: NodeBody): boolean {
  const { _readableState: state } = body as { readonly _readableState?: { readonly ended?: boolean } };
  return body.complete || state?.ended === true;
}

const tooLarge = () => new SignetError("request_malformed", "The body is too large.", { status: 413 });

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
