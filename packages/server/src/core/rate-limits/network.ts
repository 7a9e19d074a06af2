/**
 * The network that a client's address counts as: an IPv6 /64, because a subscriber has a whole one, or an IPv4 address,
 * also from its IPv4-mapped form (RFC 4291 §2.5.5.2) or with the port that some proxies add.
 */
export function networkPrefix(peer: string): string {
  const address = peer.replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1").replace(/^\[([^\]]+)\](?::\d+)?$/, "$1");
  if (address.startsWith("::ffff:")) return address.slice("::ffff:".length);
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const behind = tail === "" ? [] : tail.split(":");
    while (groups.length + behind.length < 8) groups.push("0");
    groups.push(...behind);
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}
