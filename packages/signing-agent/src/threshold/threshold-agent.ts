/** The running agent of a threshold pool: keeps commitments in stock, claims rounds, and gives its shares. */
import { backoff, pause } from "@signet/cli-runtime/backoff";
import { describeError } from "@signet/cli-runtime/redact";
import type { RunningAgent } from "../agent/agent.ts";
import { countServiceError, SERVICE_BACKOFF } from "../agent/handle-request.ts";
import { ServiceError } from "../service/signing-service.ts";
import { activate, eraseSuperseded } from "./ceremony.ts";
import type { FrostSigner } from "./frost-signer.ts";
import { eraseShare, type GroupShare, type KeptShare, openShare, readShares } from "./group-share.ts";
import type { Boot, NonceStock } from "./nonces.ts";
import { isSuperseded } from "./reshare.ts";
import type { SealedFolder } from "./sealed-folder.ts";
import { type RoundChecks, signRounds } from "./sign-round.ts";
import {
  type Part,
  type Round,
  type RoundsAnswer,
  ServiceRefusal,
  type ThresholdService,
} from "./threshold-service.ts";

const HEALTHY_MS = 60_000;
const GRACE_MS = 15_000;
const CLAIM_WAIT_SECONDS = 20;
const MAX_ROUNDS = 32;
/** Commitments that are kept in stock, made while there is nothing to sign; a few at a time, so that no round waits for them. */
const FULL_STOCK = 480;
const TOP_UP = 32;
/** Below it they are made under load too: without stock there are no rounds. */
const LOW_STOCK = 96;
/** Without a key to sign with. */
const IDLE_MS = 2_000;

export interface ThresholdAgentDeps extends RoundChecks {
  readonly service: ThresholdService;
  readonly sealed: SealedFolder;
  readonly boot: Boot;
  readonly stock: NonceStock;
  readonly signer: FrostSigner;
}

export function startThresholdAgent(deps: ThresholdAgentDeps): RunningAgent {
  const { clock, metrics, log } = deps;
  const stopping = new AbortController();
  const shares = openShares(deps);
  let lastAnswerAt = Number.NEGATIVE_INFINITY;
  const loop = async (): Promise<void> => {
    const failures = backoff(SERVICE_BACKOFF);
    while (!stopping.signal.aborted) {
      try {
        await claimAndSign(deps, shares, stopping.signal, () => {
          lastAnswerAt = clock();
          metrics.lastAnswer.set(lastAnswerAt / 1000);
          failures.reset();
        });
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (error instanceof ServiceRefusal && error.code === "restored_backup") {
          // Its nonces are gone already; another copy of this agent may be at work.
          log("error", "restored_backup: this agent signs nothing until it is told to", {
            reason: error.message,
          });
          lastAnswerAt = Number.NEGATIVE_INFINITY;
          return;
        }
        if (!(error instanceof ServiceRefusal)) countServiceError(error, deps);
        const retryAfter = error instanceof ServiceError ? error.retryAfter : undefined;
        const milliseconds = failures.next(retryAfter);
        log("warn", "cannot claim from the service", {
          reason: describeError(error),
          retryInSeconds: Math.round(milliseconds / 100) / 10,
        });
        await pause(milliseconds, stopping.signal);
      }
    }
  };
  const running = loop();
  return {
    isHealthy: () => clock() - lastAnswerAt < HEALTHY_MS,
    stop: async (graceMs = GRACE_MS) => {
      stopping.abort();
      const over = new AbortController();
      await Promise.race([running, pause(graceMs, over.signal)]);
      over.abort();
    },
  };
}

/** Registers this start; one claim, and what follows from it. */
async function claimAndSign(
  deps: ThresholdAgentDeps,
  shares: OpenShares,
  stopping: AbortSignal,
  onAnswer: () => void,
): Promise<void> {
  const { service, boot } = deps;
  await shares.refresh();
  const first = shares.all()[0];
  if (!first) {
    await pause(IDLE_MS, stopping);
    return;
  }
  let key: Signing = first.kept;
  let stock = await service.publish(boot, first.kept.kid, []);
  onAnswer();
  while (!stopping.aborted) {
    stock = await topUp(deps, shares, { ...key, stock });
    let answer: RoundsAnswer = await service.claim(boot, {
      max: MAX_ROUNDS,
      seconds: stock < FULL_STOCK && shares.of(key) ? 0 : CLAIM_WAIT_SECONDS,
      signal: stopping,
    });
    onAnswer();
    key = await follow(shares, answer);
    while (answer.rounds.length > 0) {
      const parts = await sign(deps, shares, answer.rounds);
      answer = await service.submit(boot, parts, stopping.aborted ? 0 : MAX_ROUNDS);
      onAnswer();
      key = await follow(shares, answer);
      if (answer.stock < LOW_STOCK) await topUp(deps, shares, answer);
    }
    stock = answer.stock;
  }
}

/** The pool's key, and the ceremony that its members have their shares from. */
interface Signing {
  readonly kid: string | null;
  readonly ceremony: string | null;
}

/** After a key ceremony or a resharing, before anything is signed: this machine's share may be another one, or useless. */
async function follow(shares: OpenShares, { kid, ceremony }: Signing): Promise<Signing> {
  if (kid !== null && !shares.of({ kid, ceremony })) await shares.refresh({ kid, ceremony });
  return { kid, ceremony };
}

async function topUp(
  { service, boot, stock: nonces }: ThresholdAgentDeps,
  shares: OpenShares,
  { kid, ceremony, stock }: Pick<RoundsAnswer, "kid" | "ceremony" | "stock">,
): Promise<number> {
  const share = shares.of({ kid, ceremony });
  if (!share || kid === null || stock >= FULL_STOCK) return stock;
  return service.publish(boot, kid, await nonces.make(share.secret, TOP_UP));
}

async function sign(deps: ThresholdAgentDeps, shares: OpenShares, rounds: readonly Round[]): Promise<Part[]> {
  const { metrics } = deps;
  const startedAt = performance.now();
  metrics.inFlight.set(rounds.length);
  const signed = await signRounds(rounds, { ...deps, shares: shares.all });
  metrics.inFlight.set(0);
  const seconds = (performance.now() - startedAt) / 1000;
  for (const { part, outcome } of signed) {
    metrics.duration.observe({ outcome }, seconds);
    for (const use of Object.keys(part.shares ?? {})) metrics.signedTokens.inc({ use, alg: "EdDSA" });
  }
  return signed.map(({ part }) => part);
}

interface OpenShares {
  /** The active ones, newest first. */
  all(): readonly GroupShare[];
  /** The active one of the key from this ceremony. */
  of(wanted: Signing): GroupShare | undefined;
  /**
   * Reads the disk again, and asks whether all members have confirmed meanwhile.
   * @param latest what the service says that the key's members have: a share that they replaced is erased, once that is proven
   */
  refresh(latest?: Signing): Promise<void>;
}

function openShares({ sealed, service, log }: ThresholdAgentDeps): OpenShares {
  let open: readonly GroupShare[] = [];
  return {
    all: () => open,
    of: ({ kid, ceremony }) => open.find(({ kept }) => kept.kid === kid && kept.ceremony === ceremony),
    refresh: async (latest) => {
      const active: KeptShare[] = [];
      for (const share of (await readShares(sealed)).reverse()) {
        const progress = share.state === "confirmed" ? await askWhetherActive(share) : undefined;
        if (progress?.at === "active") log("info", "the share is confirmed by all members", nameOf(share));
        if (progress?.at === "active" || share.state === "active") active.push({ ...share, state: "active" });
      }
      for (const share of active) await eraseSuperseded(sealed, share);
      if (latest) await eraseReplaced(active, latest);
      const left = new Set((await readShares(sealed)).map(({ ceremony }) => ceremony));
      open = active
        .filter(({ ceremony }) => left.has(ceremony))
        .map(
          (kept) =>
            open.find((one) => one.kept.kid === kept.kid && one.kept.ceremony === kept.ceremony) ??
            openShare(kept),
        );
    },
  };

  async function askWhetherActive(share: KeptShare) {
    const { ceremony } = await service.pool(share.ceremony);
    return ceremony ? activate({ sealed }, share, ceremony) : undefined;
  }

  /** This machine is no member any more. */
  async function eraseReplaced(active: readonly KeptShare[], { kid, ceremony }: Signing): Promise<void> {
    for (const share of active) {
      if (share.kid !== kid || ceremony === null || share.ceremony === ceremony) continue;
      if (!(await isSuperseded(service, share, ceremony))) continue;
      await eraseShare(sealed, share);
      log("warn", "the key was dealt to other members: this machine's share is erased", nameOf(share));
    }
  }
}

const nameOf = ({ kid, ceremony }: KeptShare) => ({ kid, ceremony });
