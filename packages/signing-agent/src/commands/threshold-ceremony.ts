/** What the commands of key ceremonies and resharings share: how they reach the pool, and what they show to operators. */
import { pause } from "@signet/cli-runtime/backoff";
import { optionalText, textOption, UsageError, type Values } from "@signet/cli-runtime/command";
import { readSecretFile } from "@signet/cli-runtime/private-file";
import { spokenHash } from "@signet/protocol/threshold/messages";
import { readConfiguration } from "../configuration/configuration.ts";
import { closeKeys, openKeys } from "../keys/open-keys.ts";
import { openJsonClient } from "../service/json-client.ts";
import { poolUrl, sovereignUrl } from "../service/signing-service.ts";
import { advance, type Progress } from "../threshold/ceremony.ts";
import type { CeremonyDeps } from "../threshold/say.ts";
import { openSealedFolder } from "../threshold/sealed-folder.ts";
import { type ThresholdService, thresholdService } from "../threshold/threshold-service.ts";
import { type AgentIo, configFile } from "./options.ts";

export const waitOption = {
  wait: textOption("SECONDS", "how long to wait for the other machines (default 300; 0: do not wait)"),
};

const MAX_COUNT = 1_000_000_000;
const POLL_MS = 1_000;
const DEFAULT_WAIT = "300";

export type CommandDeps = CeremonyDeps & { readonly service: ThresholdService };

/** @throws UsageError for a configuration without `threshold` */
export async function inCeremony(
  values: Values,
  run: (deps: CommandDeps) => Promise<number>,
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
    return await run({ service, sealed, identity, pool: poolUrl(configuration) });
  } finally {
    client.close();
    await closeKeys(keys);
  }
}

interface Shown {
  readonly values: Values;
  readonly io: AgentIo;
}

/** As far as the ceremony gets without its operators; a roster is shown once, and dealing is awaited. */
export async function joinAndShow(deps: CommandDeps, { values, io }: Shown): Promise<number> {
  const seconds = readCount(optionalText(values, "wait") ?? DEFAULT_WAIT, "wait");
  const deadline = io.clock() + seconds * 1000;
  let progress = await advance(deps);
  let isRosterShown = false;
  while ((progress.at === "waiting" || progress.at === "roster") && io.clock() < deadline) {
    if (progress.at === "roster" && !isRosterShown) {
      await show(deps, progress, io);
      isRosterShown = true;
    }
    await pause(POLL_MS, new AbortController().signal);
    progress = await advance(deps);
  }
  return progress.at === "roster" && isRosterShown ? 0 : show(deps, progress, io);
}

export async function show(
  { service }: Pick<CommandDeps, "service">,
  progress: Progress,
  io: AgentIo,
): Promise<number> {
  if (progress.at === "waiting") {
    io.print(
      `The ceremony is ${progress.state}: other machines are awaited. Go on with: signet-agent threshold join`,
    );
    return 0;
  }
  if (progress.at === "roster") return showRoster(service, progress, io);
  if (progress.at === "leaving") return showLeaving(progress.outcome, io);
  const { share, at } = progress;
  io.print(`Key ${share.kid}: ${share.min} of ${share.members.length} machines sign together`);
  if (share.from !== undefined) io.print("The key is the one that the pool had; the shares are new");
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

type At<Name extends Progress["at"]> = Extract<Progress, { readonly at: Name }>;

async function showRoster(
  service: Pick<ThresholdService, "pool">,
  { roster, canDeal }: At<"roster">,
  io: AgentIo,
): Promise<number> {
  const { agents } = await service.pool();
  io.print("The new members:");
  for (const { kid } of roster.joins)
    io.print(`  ${kid}  ${agents.find((one) => one.kid === kid)?.name ?? "unknown"}`);
  io.print(`Roster: ${spokenHash(roster.hash)}`);
  io.print("Compare it on each of the new members' machines. Whoever is on it gets a share of the key.");
  if (canDeal) io.print("If all show the same, deal with it: signet-agent threshold deal --roster …");
  else io.print("Members that have a share deal next: signet-agent threshold deal --roster …");
  return 0;
}

function showLeaving({ transcript, group }: At<"leaving">["outcome"], io: AgentIo): number {
  io.print(`Key ${group.kid}: this machine is not among the new members`);
  io.print(`Transcript: ${spokenHash(transcript)}`);
  io.print("Once all new members have confirmed, the running agent erases this machine's share");
  return 0;
}

/** @throws UsageError */
export function readCount(text: string, option: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0 || count > MAX_COUNT)
    throw new UsageError(`--${option} must be a whole number`);
  return count;
}
