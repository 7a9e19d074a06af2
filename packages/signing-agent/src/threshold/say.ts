/** What a member says in a ceremony, signed by its identity key. */
import type { AgentKey } from "../keys/key-source.ts";
import type { SealedFolder } from "./sealed-folder.ts";
import type { ThresholdService } from "./threshold-service.ts";

export interface CeremonyDeps {
  readonly service: Pick<ThresholdService, "pool" | "say">;
  readonly sealed: SealedFolder;
  readonly identity: AgentKey;
  /** The pool's URL, as this machine is configured. */
  readonly pool: string;
}

/** What this machine keeps secret until it has its share. */
export const secretsFile = (ceremony: string): string => `ceremony-${ceremony}`;

export async function signed(
  { identity, pool }: CeremonyDeps,
  typ: string,
  ceremony: string,
  said: object,
): Promise<string> {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const header = encode({ alg: "EdDSA", typ, kid: identity.kid });
  const input = `${header}.${encode({ aud: pool, ceremony, ...said })}`;
  return `${input}.${await identity.sign(input)}`;
}
