/** A DNS server on loopback (RFC 1035, UDP only): answers for the names that a test tells it, or stays silent. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";

/** Addresses of both families; `silent`: no answer at all, or none for IPv6; `failing`: none but that. */
export type NameRecord =
  | readonly string[]
  | "silent"
  | "failing"
  | { readonly v4: readonly string[]; readonly v6: "silent" }
  | { readonly txt: ReadonlyArray<readonly string[]> };

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
const TYPE_TXT = 16;
const TYPE_AAAA = 28;
const SERVER_FAILURE = 2;
const NAME_ERROR = 3;

export async function startNameServer(): Promise<NameServer> {
  const records = new Map<string, NameRecord>();
  const counts = new Map<string, number>();
  const socket = createSocket("udp4");
  const find = (name: string) => records.get(name) ?? records.get(name.replace(/^[^.]*/, "*"));
  socket.on("message", (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const data = dataOf(find(name), type);
    if (data) socket.send(answerTo(query, end, { type, data, code: codeOf(find(name)) }), port, address);
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
function dataOf(record: NameRecord | undefined, type: number): readonly Buffer[] | undefined {
  if (record === undefined || record === "failing") return [];
  if (record === "silent") return undefined;
  if ("txt" in record) return type === TYPE_TXT ? record.txt.map(txtData) : [];
  if ("v4" in record) return type === TYPE_AAAA ? undefined : record.v4.map(addressData);
  return record.filter((address) => isIPv4(address) === (type === TYPE_A)).map(addressData);
}

function codeOf(record: NameRecord | undefined): number {
  if (record === "failing") return SERVER_FAILURE;
  return record === undefined ? NAME_ERROR : 0;
}

/** RFC 1035 §3.3.14: each string behind its length. */
const txtData = (strings: readonly string[]): Buffer =>
  Buffer.concat(strings.flatMap((text) => [Buffer.from([text.length]), Buffer.from(text, "latin1")]));

const addressData = (address: string): Buffer =>
  isIPv4(address) ? Buffer.from(address.split(".").map(Number)) : ipv6Bytes(address);

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
  { type, data, code }: { type: number; data: readonly Buffer[]; code: number },
): Buffer {
  const head = Buffer.from(query.subarray(0, questionEnd));
  head.writeUInt16BE(0x8180 | code, 2); // response, recursion desired and available
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 6);
  head.writeUInt32BE(0, 8);
  const answers = data.map((content) => {
    const fixed = Buffer.alloc(12);
    fixed.writeUInt16BE(0xc00c, 0); // the name of the question
    fixed.writeUInt16BE(type, 2);
    fixed.writeUInt16BE(1, 4);
    fixed.writeUInt16BE(content.length, 10);
    return Buffer.concat([fixed, content]);
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
