/** `signet-agent threshold …`: the key ceremony, and what this machine has of the pool's key (threshold-and-ledger.md §1). */
import path from "node:path";
import { requiredText, textOption } from "@signet/cli-runtime/command";
import { acquireLock } from "@signet/cli-runtime/exclusive-lock";
import { abort, confirm } from "../threshold/ceremony.ts";
import { CeremonyFault } from "../threshold/ceremony-fault.ts";
import { openShare, readShares } from "../threshold/group-share.ts";
import { countBoot } from "../threshold/nonces.ts";
import { type AgentCommand, configOption } from "./options.ts";
import { inCeremony, joinAndShow, readCount, show, waitOption } from "./threshold-ceremony.ts";

export const thresholdCreateCommand: AgentCommand = {
  name: "threshold create",
  summary: "begin a key ceremony, and join it",
  usage: "[--wait SECONDS] [--config FILE]",
  options: { ...configOption, ...waitOption },
  run: ({ values, io }) =>
    inCeremony(values, async (deps) => {
      const id = await deps.service.begin();
      io.print(`Key ceremony ${id} has begun. On each other machine: signet-agent threshold join`);
      return joinAndShow(deps, { values, io });
    }),
};

export const thresholdJoinCommand: AgentCommand = {
  name: "threshold join",
  summary: "join the pool's key ceremony or resharing, or go on with it",
  usage: "[--wait SECONDS] [--config FILE]",
  options: { ...configOption, ...waitOption },
  run: ({ values, io }) => inCeremony(values, (deps) => joinAndShow(deps, { values, io })),
};

export const thresholdConfirmCommand: AgentCommand = {
  name: "threshold confirm",
  summary: "confirm the ceremony or resharing, with the transcript as another machine shows it",
  usage: "--transcript HASH [--config FILE]",
  options: {
    ...configOption,
    transcript: textOption("HASH", "as read on another machine, not on this one", { required: true }),
  },
  run: ({ values, io }) =>
    inCeremony(values, async (deps) =>
      show(deps, await confirm(deps, requiredText(values, "transcript")), io),
    ),
};

export const thresholdAbortCommand: AgentCommand = {
  name: "threshold abort",
  summary: "end the pool's open key ceremony or resharing for all machines",
  usage: "--reason TEXT [--config FILE]",
  options: { ...configOption, reason: textOption("TEXT", "for the other operators", { required: true }) },
  run: ({ values, io }) =>
    inCeremony(values, async (deps) => {
      const { ceremony } = await deps.service.pool();
      if (!ceremony) throw new CeremonyFault("not_joined", "the pool has no key ceremony");
      await abort(deps, ceremony.ceremonyId, {
        message: requiredText(values, "reason").slice(0, MAX_REASON),
      });
      io.print(`Key ceremony ${ceremony.ceremonyId} is aborted`);
      return 0;
    }),
};

export const thresholdVerifyCommand: AgentCommand = {
  name: "threshold verify",
  summary: "prove that this machine's shares are those of the published keys, without signing",
  usage: "[--config FILE]",
  options: configOption,
  run: ({ values, io }) =>
    inCeremony(values, async ({ sealed, service }) => {
      const { keys } = await service.pool();
      const shares = await readShares(sealed);
      for (const share of shares) {
        // Throws unless the share is the one that the members' commitments promise.
        openShare(share);
        const found = keys.find(({ kid }) => kid === share.kid);
        const published = !found
          ? "not published"
          : found.ceremonyId === share.ceremony
            ? found.state
            : "not the members' present shares";
        io.print(
          `Key ${share.kid}: ${share.min} of ${share.members.length}, share valid, ${share.state}, ${published}`,
        );
      }
      if (shares.length === 0) io.print("This machine has no share of a key");
      return shares.length > 0 ? 0 : 1;
    }),
};

export const thresholdRecoverCommand: AgentCommand = {
  name: "threshold recover",
  summary: "let this machine sign again after its folder was restored from a backup",
  usage: "--after COUNT [--config FILE]",
  options: {
    ...configOption,
    after: textOption("COUNT", "starts that the service knows of, as the agent's log says", {
      required: true,
    }),
  },
  run: ({ values, io }) =>
    inCeremony(values, async ({ sealed }) => {
      const unlock = acquireLock(path.join(sealed.folder, "lock.db"));
      try {
        const { count } = await countBoot(sealed, readCount(requiredText(values, "after"), "after"));
        io.print(
          `This was start ${count}; all earlier nonces are destroyed. Be sure that no other copy is running`,
        );
        return 0;
      } finally {
        unlock();
      }
    }),
};

const MAX_REASON = 200;
