import { connect } from "node:net";

/** One answer; its body is searched and decoded only when somebody asks, before the next request is sent. */
export type Answer = {
  status: number;
  head: string;
  body: () => string;
  holds: (text: Buffer) => boolean;
};

/** A persistent HTTP/1.1 connection with one request under way at a time. */
export type Connection = {
  /** Sends bytes that hold one whole request. */
  send: (request: Buffer) => void;
  close: () => void;
};

export type ConnectionEvents = { onAnswer: (answer: Answer) => void; onFault: (fault: Error) => void };

const headEnd = Buffer.from("\r\n\r\n");
const contentLength = /\r\ncontent-length: *(\d+)/i;
const readBytes = 64 * 1024;

/**
 * Opens a connection to a loopback port; rejects when nobody listens there. It understands just enough HTTP to be
 * cheap: every answer must carry Content-Length (RFC 9112 §6.2), and there is no pipelining.
 */
export function openConnection(port: number, events: ConnectionEvents): Promise<Connection> {
  const opened = Promise.withResolvers<Connection>();
  let state: "opening" | "open" | "closed" = "opening";
  const fail = (fault: Error) => {
    const before = state;
    state = "closed";
    socket.destroy();
    if (before === "opening") opened.reject(fault);
    if (before === "open") events.onFault(fault);
  };
  const read = answerReader(events.onAnswer);
  const socket = connect({
    host: "127.0.0.1",
    port,
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafeSlow(readBytes),
      callback: (count, buffer) => {
        const fault = read(Buffer.from(buffer.buffer, buffer.byteOffset, count));
        if (fault !== undefined) fail(new Error(fault));
        return true;
      },
    },
  });
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the server closed the connection")));
  socket.on("connect", () => {
    state = "open";
    opened.resolve({
      send: (request) => {
        socket.write(request);
      },
      close: () => {
        state = "closed";
        socket.destroy();
      },
    });
  });
  return opened.promise;
}

/** Takes the bytes as they come, hands on each whole answer, and returns what is wrong with them, if anything. */
function answerReader(onAnswer: (answer: Answer) => void): (chunk: Buffer) => string | undefined {
  let pending: Buffer | undefined;
  return (chunk) => {
    const bytes = pending === undefined ? chunk : Buffer.concat([pending, chunk]);
    const headLength = bytes.indexOf(headEnd);
    const head = headLength === -1 ? undefined : bytes.toString("latin1", 0, headLength);
    const length = head === undefined ? undefined : contentLength.exec(head)?.[1];
    if (head !== undefined && length === undefined) return "an answer without Content-Length";
    const start = headLength + headEnd.length;
    const end = start + Number(length);
    if (head === undefined || bytes.length < end) {
      // The read buffer is used again for the next read, so an unfinished answer is copied out of it.
      pending = pending === undefined ? Buffer.from(bytes) : bytes;
      return undefined;
    }
    if (bytes.length > end) return "more bytes than one answer";
    pending = undefined;
    onAnswer({
      status: Number(head.slice(9, 12)),
      head,
      body: () => bytes.toString("utf8", start, end),
      holds: (text) => bytes.indexOf(text, start) !== -1,
    });
    return undefined;
  };
}
