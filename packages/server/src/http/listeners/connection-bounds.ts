/**
 * Bounds of a listener's connections: how many there are, in total and of one address, and how long one may leave its
 * answer unread. A caller who sends and never reads would otherwise hold the answer in memory for as long as it likes.
 */
import type { Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import { BlockList, isIPv6, type Socket } from "node:net";

export interface ConnectionBounds {
  readonly total: number;
  /** Not of the exempt ones: all users of a proxy come from its address. */
  readonly perAddress: number;
  /** A connection none of whose unread bytes were read in this time is cut. */
  readonly stalledMs: number;
}

export interface BoundedConnections {
  /** Addresses and networks of proxies. */
  readonly exempt: readonly string[];
  /** The network that an address counts as. */
  networkOf(address: string): string;
  /** Reports what was cut since the last report, at most every ten seconds. */
  report(cut: CutConnections): void;
}

export interface CutConnections {
  /** Refused, because there were too many. */
  readonly tooMany: number;
  /** Cut, because nothing was read. */
  readonly unread: number;
}

/** The total is for 15,000 held calls beside the others; an address may make a thousand requests at once, and more. */
const BOUNDS: ConnectionBounds = { total: 20_480, perAddress: 4_096, stalledMs: 30_000 };
const REPORT_MS = 10_000;

/** The share of each of several processes that serve one port. */
export const boundsOf = (workers: number): ConnectionBounds => ({
  ...BOUNDS,
  total: Math.ceil(BOUNDS.total / workers),
  perAddress: Math.ceil(BOUNDS.perAddress / workers),
});

export function boundConnections(
  server: Server | SecureServer,
  { exempt, networkOf, report }: BoundedConnections,
  { total, perAddress, stalledMs }: ConnectionBounds = BOUNDS,
): void {
  const isExempt = addressList(exempt);
  const progress = new Map<Socket, Progress>();
  const networks = new Map<string, number>();
  let tooMany = 0;
  let unread = 0;
  // The raw socket, also of TLS: its bytes are those that the kernel has not taken.
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress;
    const network = address === undefined || isExempt(address) ? undefined : networkOf(address);
    const ofNetwork = network === undefined ? 0 : (networks.get(network) ?? 0);
    if (progress.size >= total || ofNetwork >= perAddress) {
      tooMany++;
      socket.destroy();
      return;
    }
    progress.set(socket, { sent: -1, since: 0 });
    if (network !== undefined) networks.set(network, ofNetwork + 1);
    socket.once("close", () => {
      progress.delete(socket);
      if (network === undefined) return;
      const left = (networks.get(network) ?? 0) - 1;
      if (left > 0) networks.set(network, left);
      else networks.delete(network);
    });
  });
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const [socket, state] of progress) {
      if (!isStalled(socket, state, now, stalledMs)) continue;
      unread++;
      socket.destroy();
    }
  }, stalledMs / 6).unref();
  const reports = setInterval(() => {
    if (tooMany + unread > 0) report({ tooMany, unread });
    tooMany = 0;
    unread = 0;
  }, REPORT_MS).unref();
  server.once("close", () => {
    clearInterval(sweep);
    clearInterval(reports);
  });
}

interface Progress {
  /** What the kernel had taken when it last took something. */
  sent: number;
  since: number;
}

/** What node:net itself reads to tell a slow write from none (`Socket#setTimeout`); there is no public name for it. */
interface Handle {
  readonly bytesWritten: number;
  /** Bytes that the kernel has not taken. */
  readonly writeQueueSize: number;
}

function isStalled(socket: Socket, state: Progress, now: number, stalledMs: number): boolean {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Handle | null };
  const waiting = handle?.writeQueueSize ?? 0;
  const sent = (handle?.bytesWritten ?? 0) - waiting;
  if (waiting === 0 || sent !== state.sent) {
    state.sent = sent;
    state.since = now;
  }
  return now - state.since >= stalledMs;
}

/** @returns whether an address is in a list of addresses and networks */
export function addressList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", bits] = entry.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
