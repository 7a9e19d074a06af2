/** `signet-agent threshold reshare` and `deal`: other machines get shares of the same key (threshold-and-ledger.md §1). */
import { requiredText, textOption, UsageError } from "@signet/cli-runtime/command";
import { CeremonyFault } from "../threshold/ceremony-fault.ts";
import { readShares } from "../threshold/group-share.ts";
import { deal } from "../threshold/reshare.ts";
import type { PoolState } from "../threshold/threshold-service.ts";
import { type AgentCommand, configOption } from "./options.ts";
import { inCeremony, joinAndShow, waitOption } from "./threshold-ceremony.ts";

export const thresholdReshareCommand: AgentCommand = {
  name: "threshold reshare",
  summary: "give other machines shares of the same key: replaces a lost or retired one",
  usage: "--members NAME,NAME,… [--wait SECONDS] [--config FILE]",
  options: {
    ...configOption,
    ...waitOption,
    members: textOption("NAMES", "agents that are to have a share, by name or id, with commas", {
      required: true,
    }),
  },
  run: ({ values, io }) =>
    inCeremony(values, async (deps) => {
      const found = await deps.service.pool();
      const members = readMembers(requiredText(values, "members"), found);
      const id = await deps.service.beginReshare(members);
      io.print(`Resharing ${id} has begun. On each new member's machine: signet-agent threshold join`);
      return joinAndShow(deps, { values, io });
    }),
};

/** @throws UsageError for an agent that is not there, or whose name two have */
function readMembers(text: string, { agents }: PoolState): string[] {
  return text.split(",").map((part) => {
    const wanted = part.trim();
    const named = agents.filter(({ agentId, name }) => agentId === wanted || name === wanted);
    const [agent] = named;
    if (!agent) throw new UsageError(`the pool has no active agent ${JSON.stringify(wanted)}`);
    if (named.length > 1) throw new UsageError(`several agents are named ${wanted}: use their ids`);
    return agent.agentId;
  });
}

export const thresholdDealCommand: AgentCommand = {
  name: "threshold deal",
  summary: "deal this machine's share to the new members, with the roster as their machines show it",
  usage: "--roster HASH [--config FILE]",
  options: {
    ...configOption,
    roster: textOption("HASH", "as read on each new member's machine, not on this one", { required: true }),
  },
  run: ({ values, io }) =>
    inCeremony(values, async (deps) => {
      const { ceremony } = await deps.service.pool();
      if (ceremony?.kind !== "reshare") throw new CeremonyFault("not_joined", "the pool has no resharing");
      const kept = await readShares(deps.sealed);
      const { state } = await deal(deps, { ceremony, kept }, requiredText(values, "roster"));
      io.print(
        state === "sharing"
          ? "Dealt. More members must deal before the new members have their shares"
          : "Dealt. On each new member's machine: signet-agent threshold join",
      );
      return 0;
    }),
};
