/** A service that only carries messages, for ceremonies without one: whatever a machine has to check, nobody else does here. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { agentKey } from "../keys/key-source.ts";
import { generatePrivateKey, memoryKey } from "../keys/pem-key.ts";
import type { CeremonyDeps } from "../threshold/say.ts";
import { createSealingKey, openSealedFolder } from "../threshold/sealed-folder.ts";
import type { CeremonyState, PoolState } from "../threshold/threshold-service.ts";

export const POOL = "https://id.example/oauth/o/sovereign/pools/p";
export type Message = CeremonyState["messages"][number];
/** What a machine is shown instead of the truth. */
export type Lie = (messages: readonly Message[], to: number, ceremony: string) => readonly Message[];

interface Told {
  readonly kind: "create" | "reshare";
  readonly members: readonly string[];
  readonly kid: string | null;
  readonly from: string | null;
  readonly messages: Message[];
}

export const ceremonyId = (index: number): string =>
  `00000000-0000-7000-8000-${String(index).padStart(12, "0")}`;

export type Messenger = ReturnType<typeof messenger>;

/** @param folder of all machines */
export function messenger(folder: string, threshold: { readonly min: number; readonly max: number }) {
  const ceremonies = new Map<string, Told>();
  const told: { lie: Lie } = { lie: (messages) => messages };
  const counts = { create: threshold.max, reshare: threshold.min };

  const stateOf = ({ kind, messages }: Told): string => {
    const said = (round: string) => messages.filter((one) => one.round === round).length;
    if (said("abort") > 0) return "aborted";
    if (said("join") < threshold.max) return "joining";
    const dealt = kind === "create" ? said("shares") : said("deal");
    if (dealt < counts[kind]) return "sharing";
    return said("confirmation") < threshold.max ? "confirming" : "complete";
  };

  function show(id: string, one: Told, to: number): CeremonyState {
    const { kind, members, kid, from, messages } = one;
    return {
      ...{ ceremonyId: id, kind, kid, from, members: [...members], state: stateOf(one), ...threshold },
      ...{ begunBy: "0", endReason: null, messages: [...told.lie(messages, to, id)] },
    };
  }

  async function pool(to: number, id = [...ceremonies.keys()].at(-1)): Promise<PoolState> {
    const found = ceremonies.get(id ?? "");
    return {
      ...{ pool: POOL, threshold, agentId: String(to), agents: [], keys: [] },
      ceremony: found && id !== undefined ? show(id, found, to) : null,
    };
  }

  async function say(from: number, id: string, message: string): Promise<string> {
    const one = ceremonies.get(id);
    if (!one) throw new Error(`no ceremony ${id}`);
    const header = JSON.parse(Buffer.from(message.split(".")[0] ?? "", "base64url").toString()) as {
      typ: string;
    };
    const round = /^threshold-(?:reshare-)?(\w+)\+jwt$/.exec(header.typ)?.[1] ?? "";
    if (!one.messages.some((earlier) => earlier.message === message))
      one.messages.push({ agentId: String(from), round, message });
    return stateOf(one);
  }

  return {
    ceremonies,
    /** As the machines see it from now on. */
    tell: (lie?: Lie) => {
      told.lie = lie ?? ((messages) => messages);
    },
    /** @param reshare without it, a new key is made */
    begin: (reshare?: {
      readonly kid: string;
      readonly from: string;
      readonly members: readonly number[];
    }) => {
      const id = ceremonyId(ceremonies.size + 1);
      ceremonies.set(id, {
        kind: reshare ? "reshare" : "create",
        members: reshare?.members.map(String) ?? [],
        ...{ kid: reshare?.kid ?? null, from: reshare?.from ?? null, messages: [] },
      });
      return id;
    },
    machine: async (index: number): Promise<CeremonyDeps & { readonly folder: string }> => {
      const own = path.join(folder, `m-${index}`);
      await mkdir(own, { recursive: true, mode: 0o700 });
      const sealingKeyFile = path.join(own, "sealing-key");
      await createSealingKey(sealingKeyFile);
      return {
        folder: path.join(own, "threshold"),
        sealed: await openSealedFolder({ folder: path.join(own, "threshold"), sealingKeyFile }),
        identity: agentKey(memoryKey(await generatePrivateKey("EdDSA"), "EdDSA"), "test"),
        pool: POOL,
        service: {
          pool: (id) => pool(index, id),
          say: (id, message) => say(index, id, message),
        },
      };
    },
  };
}
