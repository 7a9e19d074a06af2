/** The names that the machine itself knows: /etc/hosts (hosts(5)), and localhost (RFC 6761 §6.3). */
import type { LookupAddress } from "node:dns";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";

export interface LocalNames {
  /** @param name in lower case, without a trailing dot. @returns none when the machine does not know the name */
  find(name: string): Promise<readonly LookupAddress[]>;
}

const LOOPBACK: readonly LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/** @param file read again when it has changed; a machine without one knows only localhost */
export function localNames(file = "/etc/hosts"): LocalNames {
  let read: { readonly state: string; readonly names: ReadonlyMap<string, LookupAddress[]> } | undefined;
  const load = async () => {
    const { mtimeMs, size, ino } = await stat(file);
    const state = `${ino}/${size}/${mtimeMs}`;
    if (read?.state !== state) read = { state, names: parseHosts(await readFile(file, "utf8")) };
    return read.names;
  };
  return {
    find: async (name) => {
      const names = await load().catch(() => undefined);
      const isLocalhost = name === "localhost" || name.endsWith(".localhost");
      return names?.get(name) ?? (isLocalhost ? LOOPBACK : []);
    },
  };
}

export function parseHosts(text: string): Map<string, LookupAddress[]> {
  const names = new Map<string, LookupAddress[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...aliases] = (line.split("#")[0] ?? "").trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const alias of aliases) {
      const name = alias.toLowerCase().replace(/\.$/, "");
      const found = names.get(name) ?? [];
      if (!found.some((known) => known.address === address)) found.push({ address, family });
      names.set(name, found);
    }
  }
  return names;
}
