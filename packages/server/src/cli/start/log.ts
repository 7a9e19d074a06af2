/** The log: JSON lines on standard output. */
import { type DestinationStream, type Logger, pino } from "pino";
import type { RequestLine } from "../../http/request-log.ts";

export type Log = Logger & { request(line: RequestLine): void };

const INFO = 30;

/**
 * Lines are written in pieces, because a request must not wait for the disk; what is left goes out twice a second. The
 * line of a request is put together by hand, at a third of pino's price: it is the one thing that every request pays.
 */
export function openLog(level: string): Log {
  const log = logTo(level, pino.destination({ sync: false, minLength: 16_000 }));
  setInterval(() => log.flush(), 500).unref();
  return log;
}

/** The same lines, written to somewhere else. */
export function logTo(level: string, destination: DestinationStream): Log {
  const log = pino(
    { level, base: { service: "signet" }, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  );
  const isInfo = log.isLevelEnabled("info");
  const request = (line: RequestLine) => {
    if (isInfo) destination.write(requestLine(line, new Date()));
  };
  return Object.assign(log, { request });
}

/** Nothing in it needs escaping: the id is ours, the method node:http's, the route a pattern of ours. */
export function requestLine({ requestId, method, route, status, durationMs }: RequestLine, at: Date): string {
  return `{"level":${INFO},"time":"${at.toISOString()}","service":"signet","requestId":"${requestId}","method":"${method}","route":"${route}","status":${status},"durationMs":${durationMs},"msg":"request"}\n`;
}
