/** The server log: lines on standard output, JSON unless LOG_FORMAT says otherwise. */
import { type DestinationStream, type Logger, pino } from "pino";
import type { LogFormat } from "../../config/config.ts";
import type { RequestLine } from "../../http/request-log.ts";
import { prettyLines } from "./pretty-log.ts";

export type Log = Logger & { request(line: RequestLine): void };

const INFO = 30;
const PIPE_BUF = 4_096;

/**
 * Writes are buffered, so that requests don't wait for the disk, and flushed twice a second. Request lines are
 * formatted by hand, at a third of pino's cost, because every request writes one.
 * @param worker its number, when several processes write to the same output */
export function openLog(
  { logLevel, logFormat }: { readonly logLevel: string; readonly logFormat: LogFormat },
  worker?: number,
): Log {
  // Only short writes reach a pipe whole, beside those of other processes (POSIX: PIPE_BUF); a longer line goes by itself.
  const sizes = worker === undefined ? { minLength: 16_000 } : { minLength: 3_000, maxWrite: PIPE_BUF };
  const output = pino.destination({ sync: false, ...sizes });
  const log = logTo(logLevel, logFormat === "pretty" ? prettyLines(output) : output, worker);
  setInterval(() => log.flush(), 500).unref();
  return log;
}

export function logTo(level: string, destination: DestinationStream, worker?: number): Log {
  const base = { service: "signet", ...(worker === undefined ? {} : { worker }) };
  const log = pino({ level, base, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const isInfo = log.isLevelEnabled("info");
  const request = (line: RequestLine) => {
    if (isInfo) destination.write(requestLine(line, timeText(Date.now()), worker));
  };
  return Object.assign(log, { request });
}

let written = { at: 0, text: "" };

/** Made once for all lines of a millisecond: a busy server writes several. */
function timeText(at: number): string {
  if (written.at !== at) written = { at, text: new Date(at).toISOString() };
  return written.text;
}

/**
 * Needs no escaping but for the address, which may be a proxy's word: ids are made here or of a few letters
 * (http/request-references.ts), the method comes from node:http, the route is a pattern.
 * @param time ISO 8601
 */
export function requestLine(
  { requestId, method, route, status, durationMs, orgId, clientId, address, traceId }: RequestLine,
  time: string,
  worker?: number,
): string {
  const by = worker === undefined ? "" : `"worker":${worker},`;
  const organisation = orgId === undefined ? "" : `"orgId":"${orgId}",`;
  const client = clientId === undefined ? "" : `"clientId":"${clientId}",`;
  const from = address === undefined ? "" : `"address":${quotedAddress(address)},`;
  const trace = traceId === undefined ? "" : `"traceId":"${traceId}",`;
  return `{"level":${INFO},"time":"${time}","service":"signet",${by}"requestId":"${requestId}",${trace}"method":"${method}","route":"${route}",${organisation}${client}${from}"status":${status},"durationMs":${durationMs},"msg":"request"}\n`;
}

const PLAIN_ADDRESS = /^[\w.:%-]{1,64}$/;

const quotedAddress = (address: string): string =>
  PLAIN_ADDRESS.test(address) ? `"${address}"` : JSON.stringify(address.slice(0, 64));
