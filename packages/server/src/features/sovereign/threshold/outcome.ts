/** What a key ceremony or a resharing comes to, reckoned from its messages: no secret is needed to know it. */
import { groupOf, type ThresholdGroup } from "@signet/protocol/threshold/group";
import { type Join, type KeptMessage, readJoin, transcriptHash } from "@signet/protocol/threshold/messages";
import {
  type Reshare,
  ReshareFault,
  readReshareJoin,
  reshareOutcome,
} from "@signet/protocol/threshold/reshare";
import type { CeremonyRow, MessageRow } from "./ceremony.store.ts";
import { invalidMessage, mismatch } from "./ceremony-rules.ts";

export type JoinOfAgent = Join & KeptMessage & { readonly agentId: string };

/** In any order. They were verified when they came. */
export function readJoins(
  ceremony: CeremonyRow,
  messages: readonly MessageRow[],
  pool: string,
): JoinOfAgent[] {
  return messages.flatMap(({ agent_id: agentId, round, message }) => {
    const join = round === "join" ? readJoin(message, { pool, ceremony: ceremony.id }) : undefined;
    return join ? [{ ...join, agentId, message }] : [];
  });
}

/** What a ceremony comes to, for everyone to see: no secret is needed to know it. */
export interface CeremonyOutcome {
  readonly transcript: string;
  readonly group: ThresholdGroup;
  /** The kid of each member's identity key, by agent. */
  readonly agents: ReadonlyMap<string, string>;
}

/**
 * Once all shares are dealt.
 * @param pool the pool's URL
 */
export function outcomeOf(
  ceremony: CeremonyRow,
  messages: readonly MessageRow[],
  pool: string,
): CeremonyOutcome {
  if (ceremony.kind === "reshare") return reshareOutcomeOf(ceremony, messages, pool);
  const joins = readJoins(ceremony, messages, pool);
  const threshold = { min: ceremony.min_signers, max: ceremony.max_signers };
  const group = groupOf(joins, threshold);
  if (!group) throw invalidMessage("the members' commitments make no key");
  const kids = new Map(joins.map(({ agentId, kid }) => [agentId, kid]));
  const shares = messages.flatMap(({ agent_id, round, message }) =>
    round === "shares" ? [{ kid: kids.get(agent_id) ?? "", message }] : [],
  );
  const ref = { pool, ceremony: ceremony.id };
  return { transcript: transcriptHash(ref, threshold, { joins, shares }), group, agents: kids };
}

export const reshareOf = (row: CeremonyRow, pool: string): Reshare => ({
  ...{ pool, ceremony: row.id, key: row.kid ?? "" },
  ...{ min: row.min_signers, max: row.max_signers },
});

export const saidIn = (messages: readonly MessageRow[], round: string): string[] =>
  messages.filter((one) => one.round === round).map(({ message }) => message);

/** @throws CodedError for a fault of what was said */
export function withCodes<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ReshareFault)) throw error;
    throw error.code === "swapped_message" ? mismatch(error.message) : invalidMessage(error.message);
  }
}

/** @param pool the pool's URL */
export function reshareOutcomeOf(
  ceremony: CeremonyRow,
  messages: readonly MessageRow[],
  pool: string,
): CeremonyOutcome {
  const reshare = reshareOf(ceremony, pool);
  const said = { joins: saidIn(messages, "join"), deals: saidIn(messages, "deal") };
  const { transcript, group } = withCodes(() => reshareOutcome(reshare, said));
  const agents = messages.flatMap(({ agent_id, round, message }) => {
    const join = round === "join" ? readReshareJoin(message, reshare) : undefined;
    return join ? [[agent_id, join.kid] as const] : [];
  });
  return { transcript, group, agents: new Map(agents) };
}
