/** A DNS server on loopback (RFC 1035, UDP only): answers for the names that a test tells it, or stays silent. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";

/** Addresses of both families; `silent`: no answer at all; `silent-6`: none for IPv6. */
export type NameRecord =
  | readonly string[]
  | "silent"
  | { readonly v4: readonly string[]; readonly v6: "silent" };

export interface NameServer {
  /** `address:port`, for a resolver. */
  readonly address: string;
  /** Every other name does not exist. A name that begins with `*.` stands for all below it. */
  set(name: string, record: NameRecord): void;
  /** How many queries came for a name, of both families. */
  queries(name: string): number;
  close(): Promise<void>;
}

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NAME_ERROR = 3;

export async function startNameServer(): Promise<NameServer> {
  const records = new Map<string, NameRecord>();
  const counts = new Map<string, number>();
  const socket = createSocket("udp4");
  const find = (name: string) => records.get(name) ?? records.get(name.replace(/^[^.]*/, "*"));
  socket.on("message", (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const addresses = addressesOf(find(name), type);
    if (addresses)
      socket.send(answerTo(query, end, { type, addresses, exists: find(name) !== undefined }), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    set: (name, record) => void records.set(name, record),
    queries: (name) => counts.get(name) ?? 0,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** @returns undefined to stay silent */
function addressesOf(record: NameRecord | undefined, type: number): readonly string[] | undefined {
  if (record === undefined) return [];
  if (record === "silent") return undefined;
  if ("v4" in record) return type === TYPE_AAAA ? undefined : record.v4;
  return record.filter((address) => isIPv4(address) === (type === TYPE_A));
}

/** The first question (RFC 1035 §4.1.2), and where it ends. */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answerTo(
  query: Buffer,
  questionEnd: number,
  { type, addresses, exists }: { type: number; addresses: readonly string[]; exists: boolean },
): Buffer {
  const head = Buffer.from(query.subarray(0, questionEnd));
  head.writeUInt16BE(0x8180 | (exists ? 0 : NAME_ERROR), 2); // response, recursion desired and available
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const answers = addresses.map((address) => {
    const data = type === TYPE_A ? Buffer.from(address.split(".").map(Number)) : ipv6Bytes(address);
    const fixed = Buffer.alloc(12);
    fixed.writeUInt16BE(0xc00c, 0); // the name of the question
    fixed.writeUInt16BE(type, 2);
    fixed.writeUInt16BE(1, 4);
    fixed.writeUInt16BE(data.length, 10);
    return Buffer.concat([fixed, data]);
  });
  return Buffer.concat([head, ...answers]);
}

function ipv6Bytes(address: string): Buffer {
  const [left = "", right] = address.split("::");
  const groups = (text: string | undefined) => (text ? text.split(":") : []);
  const zeros = right === undefined ? 0 : 8 - groups(left).length - groups(right).length;
  const all = [...groups(left), ...Array.from({ length: zeros }, () => "0"), ...groups(right)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}
