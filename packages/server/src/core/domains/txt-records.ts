/** Looks up the TXT records of a name, apart from the service's own lookups (see core/outbound/name-resolver.ts). */
import { Resolver } from "node:dns/promises";

export interface TxtAnswer {
  /** The strings of a record joined (RFC 7208 §3.3); none for a name without any. Undefined: no server answered. */
  readonly records: readonly string[] | undefined;
}

export type LookUpTxt = (name: string) => Promise<TxtAnswer>;

/** The first try; c-ares doubles it for each further one. */
const FIRST_TRY_MS = 1_000;
const TRIES = 2;
const LOOKUP_MS = 4_000;
/** A name with more of them is nobody's proof. */
const MAX_RECORDS = 100;

/** @param servers `address:port`; default: those of /etc/resolv.conf */
export const txtLookup =
  (servers?: readonly string[]): LookUpTxt =>
  async (name) => {
    // One for each lookup: c-ares can only cancel all of one at once.
    const resolver = new Resolver({ timeout: FIRST_TRY_MS, tries: TRIES });
    if (servers && servers.length > 0) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), LOOKUP_MS);
    try {
      const found = await resolver.resolveTxt(name);
      return { records: found.slice(0, MAX_RECORDS).map((strings) => strings.join("")) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return { records: code === "ENOTFOUND" || code === "ENODATA" ? [] : undefined };
    } finally {
      clearTimeout(timer);
    }
  };
