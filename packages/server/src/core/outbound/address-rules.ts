/**
 * Which IP addresses Signet may connect to for a URL that others wrote (SSRF protection): only globally reachable
 * ones (IANA special-purpose registries, RFC 6890), and those that the operator allows.
 */
import { BlockList, isIP } from "node:net";

export interface AddressRules {
  /** @param host the URL's host that resolved to the address */
  mayConnect(address: string, host: string): boolean;
  isLoopback(address: string): boolean;
}

const RESERVED_4 = [
  "0.0.0.0/8", // this network; Linux connects 0.0.0.0 to itself
  "10.0.0.0/8",
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8",
  "169.254.0.0/16", // link-local: where clouds keep their metadata
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
const RESERVED_6 = [
  "2001::/23", // protocol assignments, Teredo among them, which carries an IPv4 address inside
  "2001:db8::/32",
  "2002::/16", // 6to4: an IPv4 address inside
  "3fff::/20",
];
/** All globally routed IPv6; unique-local, link-local, mapped and multicast addresses are outside. */
const GLOBAL_6 = ["2000::/3"];
/** NAT64 (RFC 6052). The last 32 bits are the IPv4 destination. */
const NAT64 = ["64:ff9b::/96"];
const LOOPBACK = ["127.0.0.0/8", "::1/128"];

/** Allowed in demo mode, for applications on the same machine. */
export const loopbackNetworks: readonly string[] = LOOPBACK;

/** @param allow host names, addresses and networks, checked by `isAllowEntry` */
export function addressRules(allow: readonly string[]): AddressRules {
  const hosts = new Set(
    allow.filter((entry) => networkPrefix(entry) === undefined).map((host) => host.toLowerCase()),
  );
  const allowed = networks(allow.filter((entry) => networkPrefix(entry) !== undefined));
  return {
    mayConnect: (address, host) =>
      isAddress(address) &&
      (isGlobal(address) || contains(allowed, address) || hosts.has(host.toLowerCase())),
    isLoopback: (address) => isAddress(address) && contains(loopback, address),
  };
}

/** Whether an entry of the configuration is an address, a network (`10.0.0.0/8`) or a host name. */
export function isAllowEntry(text: string): boolean {
  return (
    networkPrefix(text) !== undefined ||
    (/^(?=.{1,253}$)[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i.test(text) && !/^[\d.]+$/.test(text))
  );
}

const reserved4 = networks(RESERVED_4);
const reserved6 = networks(RESERVED_6);
const global6 = networks(GLOBAL_6);
const nat64 = networks(NAT64);
const loopback = networks(LOOPBACK);

/** A zone (`fe80::1%eth0`) names a local interface, so remote addresses have none. */
const isAddress = (address: string) => isIP(address) !== 0 && !address.includes("%");

function isGlobal(address: string): boolean {
  if (isIP(address) === 4) return !contains(reserved4, address);
  if (contains(nat64, address)) return isGlobal(embeddedIpv4(address));
  return contains(global6, address) && !contains(reserved6, address);
}

/** The last two of the eight groups, in the canonical form of the URL standard. */
function embeddedIpv4(address: string): string {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [low = "0", high = "0"] = canonical.split(":").reverse();
  const bits = (Number.parseInt(high || "0", 16) * 0x1_0000 + Number.parseInt(low || "0", 16)) >>> 0;
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join(".");
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

function networks(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const network = networkPrefix(entry);
    if (network) list.addSubnet(network.address, network.bits, network.family);
  }
  return list;
}

function networkPrefix(text: string): { address: string; bits: number; family: "ipv4" | "ipv6" } | undefined {
  const [address = "", prefix, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0 || address.includes("%")) return undefined;
  const maxBits = version === 4 ? 32 : 128;
  if (prefix !== undefined && !/^\d{1,3}$/.test(prefix)) return undefined;
  const bits = prefix === undefined ? maxBits : Number(prefix);
  return bits > maxBits ? undefined : { address, bits, family: version === 4 ? "ipv4" : "ipv6" };
}
