/**
 * In whose turn a request is worked on, before anything of it is checked: the organisation of its path, or the key of a system
 * account. Names that never led to a good answer share one lane, so that made-up ones take no turns of their own.
 */
import type { IncomingMessage } from "node:http";

const ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
/** The id stands second, third or fourth: /oauth/ID, /oauth/manage/ID, /api/v1/organisations/ID. */
const IN_PATH = new RegExp(`^(?:/[a-z0-9-]{1,20}){1,3}?/(${ID})(?=[/?]|$)`, "i");
const IN_SIGNATURE = new RegExp(`^(${ID}):`, "i");

/** Whatever is not of a known organisation. */
export const SHARED_LANE = "";

type Named = Pick<IncomingMessage, "url" | "headers">;

export interface OrganisationLanes {
  laneOf(request: Named): string;
  /** After a good answer. */
  learn(request: Named): void;
}

/** @returns what the request says whose it is; it may be made up */
export function namedOwner({ url = "", headers }: Named): string {
  const isLegacy = url.startsWith("/legacy/");
  const inPath = isLegacy ? undefined : IN_PATH.exec(url)?.[1];
  // Elsewhere nobody checks the signature, and a page for everyone would be a good answer to a made-up name.
  const isSigned = isLegacy || url.startsWith("/api/");
  const owner = inPath ?? (isSigned ? IN_SIGNATURE.exec(headers.authorization ?? "")?.[1] : undefined);
  return owner === undefined ? SHARED_LANE : owner.toLowerCase();
}

const OAUTH = "/oauth/";
const OAUTH_END = OAUTH.length + 36;

/** @param capacity how many are known; the one that was learnt first is forgotten */
export function organisationLanes(capacity = 20_000): OrganisationLanes {
  const known = new Set<string>();
  return {
    laneOf: (request) => {
      // Almost every request, and nothing but ids is known: the expressions would cost it most of the admission.
      const { url = "" } = request;
      const id =
        url.startsWith(OAUTH) && "/?".includes(url.charAt(OAUTH_END)) && url.slice(OAUTH.length, OAUTH_END);
      if (id && known.has(id)) return id;
      const name = namedOwner(request);
      return known.has(name) ? name : SHARED_LANE;
    },
    learn: (request) => {
      const name = namedOwner(request);
      if (name === SHARED_LANE || known.has(name)) return;
      if (known.size >= capacity) known.delete(known.values().next().value as string);
      known.add(name);
    },
  };
}
