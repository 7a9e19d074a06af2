/** `signet-agent threshold …`: the key ceremony, and what this machine has of the pool's key (threshold-and-ledger.md §1). */
import path from "node:path";
import { pause } from "@signet/cli-runtime/backoff";
import { optionalText, requiredText, textOption, UsageError, type Values } from "@signet/cli-runtime/command";
import { acquireLock } from "@signet/cli-runtime/exclusive-lock";
import { readSecretFile } from "@signet/cli-runtime/private-file";
import { spokenHash } from "@signet/protocol/threshold/messages";
import { type Configuration, readConfiguration } from "../configuration/configuration.ts";
import { closeKeys, openKeys } from "../keys/open-keys.ts";
import { openJsonClient } from "../service/json-client.ts";
import { poolUrl, sovereignUrl } from "../service/signing-service.ts";
import {
  abort,
  advance,
  type CeremonyDeps,
  CeremonyFault,
  confirm,
  type Progress,
} from "../threshold/ceremony.ts";
import { openShare, readShares } from "../threshold/group-share.ts";
import { countBoot } from "../threshold/nonces.ts";
import { openSealedFolder } from "../threshold/sealed-folder.ts";
import { type ThresholdService, thresholdService } from "../threshold/threshold-service.ts";
import { type AgentCommand, type AgentIo, configFile, configOption } from "./options.ts";

const waitOption = {
  wait: textOption("SECONDS", "how long to wait for the other machines (default 300; 0: do not wait)"),
};

export const thresholdCreateCommand: AgentCommand = {
  name: "threshold create",
  summary: "begin a key ceremony, and join it",
  usage: "[--wait SECONDS] [--config FILE]",
  options: { ...configOption, ...waitOption },
  run: ({ values, io }) =>
    inCeremony(values, async (deps, configuration) => {
      const id = await deps.service.begin();
      io.print(`Key ceremony ${id} has begun. On each other machine: signet-agent threshold join`);
      return joinAndShow(deps, { values, io, configuration });
    }),
};

export const thresholdJoinCommand: AgentCommand = {
  name: "threshold join",
  summary: "join the pool's key ceremony, or go on with it",
  usage: "[--wait SECONDS] [--config FILE]",
  options: { ...configOption, ...waitOption },
  run: ({ values, io }) =>
    inCeremony(values, (deps, configuration) => joinAndShow(deps, { values, io, configuration })),
};

export const thresholdConfirmCommand: AgentCommand = {
  name: "threshold confirm",
  summary: "confirm the ceremony, with the transcript as another machine shows it",
  usage: "--transcript HASH [--config FILE]",
  options: {
    ...configOption,
    transcript: textOption("HASH", "as read on another machine, not on this one", { required: true }),
  },
  run: ({ values, io }) =>
    inCeremony(values, async (deps) => show(await confirm(deps, requiredText(values, "transcript")), io)),
};

export const thresholdAbortCommand: AgentCommand = {
  name: "threshold abort",
  summary: "end the pool's open key ceremony for all machines",
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
        const published = keys.find(({ kid }) => kid === share.kid)?.state ?? "not published";
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
const MAX_COUNT = 1_000_000_000;
const POLL_MS = 1_000;
const DEFAULT_WAIT = "300";

type Deps = CeremonyDeps & { readonly service: ThresholdService };

/** @throws UsageError for a configuration without `threshold` */
async function inCeremony(
  values: Values,
  run: (deps: Deps, configuration: Configuration) => Promise<number>,
): Promise<number> {
  const configuration = await readConfiguration(configFile(values));
  if (!configuration.threshold)
    throw new UsageError("the configuration has no threshold: enroll with --threshold");
  const sealed = await openSealedFolder(configuration.threshold);
  const keys = await openKeys(configuration.keys);
  const client = openJsonClient();
  try {
    const [identity] = keys;
    if (identity?.alg !== "EdDSA")
      throw new UsageError("the identity key of a threshold agent must be Ed25519");
    const apiKey = await readSecretFile(configuration.apiKeyFile);
    const service = thresholdService(client, sovereignUrl(configuration), apiKey);
    return await run({ service, sealed, identity, pool: poolUrl(configuration) }, configuration);
  } finally {
    client.close();
    await closeKeys(keys);
  }
}

interface Shown {
  readonly values: Values;
  readonly io: AgentIo;
  readonly configuration: Configuration;
}

/** As far as the ceremony gets without its operators. */
async function joinAndShow(deps: Deps, { values, io }: Shown): Promise<number> {
  const seconds = readCount(optionalText(values, "wait") ?? DEFAULT_WAIT, "wait");
  const deadline = io.clock() + seconds * 1000;
  let progress = await advance(deps);
  while (progress.at === "waiting" && io.clock() < deadline) {
    await pause(POLL_MS, new AbortController().signal);
    progress = await advance(deps);
  }
  return show(progress, io);
}

function show(progress: Progress, io: AgentIo): number {
  if (progress.at === "waiting") {
    io.print(
      `The ceremony is ${progress.state}: other machines are awaited. Go on with: signet-agent threshold join`,
    );
    return 0;
  }
  const { share, at } = progress;
  io.print(`Key ${share.kid}: ${share.min} of ${share.members.length} machines sign together`);
  if (at === "compare") {
    io.print(`Transcript: ${spokenHash(share.transcript)}`);
    io.print("Compare it with another machine's. If they are the same, confirm with the other machine's:");
    io.print("  signet-agent threshold confirm --transcript …");
  }
  if (at === "confirmed")
    io.print("Confirmed here. The key signs once every machine's operator has confirmed");
  if (at === "active") io.print("All machines have confirmed: the key is ready to sign");
  return 0;
}

function readCount(text: string, option: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0 || count > MAX_COUNT)
    throw new UsageError(`--${option} must be a whole number`);
  return count;
}
