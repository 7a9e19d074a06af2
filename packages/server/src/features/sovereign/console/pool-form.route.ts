/** Making a signing pool, and changing one's settings. */
import type { FastifyInstance } from "fastify";
import { lastChangeOf } from "../../../console/actor-names.ts";
import { consoleFrame } from "../../../console/console-frame.ts";
import { seenOf, submission } from "../../../console/submission.ts";
import {
  actingOn,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../console/visit.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { differing, type FormState } from "../../../html/console/form-state.ts";
import type { FormFailure } from "../../../html/console/record-form.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { changePool } from "../pool-changes.ts";
import { checkedSettings, createPool, MOST_POOLS } from "../pools.ts";
import { poolFormPage } from "./pool-form.page.ts";
import { newPool, poolFaults, poolInput, readPool, type TypedPool, typedPool } from "./pool-form.ts";
import { paramsOf, poolAt, poolCrumbs, poolPath } from "./pool-visit.ts";

export function poolFormRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/pools/new", {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, newPath(visit));
      if (signedIn) await form(deps, visit, { signedIn, typed: newPool });
    },
    post: (visit) => create(deps, visit),
  });
  consoleRoute(app, deps, "/pools/:pool/settings", {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, settingsPath(visit));
      if (!signedIn) return;
      const before = await poolAt(deps, visit);
      await form(deps, visit, { signedIn, before, typed: typedPool(before) });
    },
    post: (visit) => change(deps, visit),
  });
}

const newPath = ({ organisation }: Visit): string => consolePath(organisation, "/pools/new");
const settingsPath = (visit: Visit): string => poolPath(visit, paramsOf(visit)["pool"] ?? "", "/settings");

interface FormShown {
  readonly signedIn: SignedIn;
  /** Undefined for a new one. */
  readonly before?: SigningPool | undefined;
  readonly typed: TypedPool;
  readonly state?: FormState;
  readonly failure?: FormFailure | undefined;
  /** As the form had it; what the pool is now, when it is left out. */
  readonly seen?: string | undefined;
  readonly status?: number;
}

async function form(deps: ConsoleDeps, visit: Visit, shown: FormShown): Promise<void> {
  const { signedIn, before, typed, state = {}, failure, status } = shown;
  const frame = await consoleFrame(deps, visit, signedIn, "pools");
  const page = poolFormPage({
    ...frame,
    breadcrumbs: poolCrumbs(visit, frame.messages, before),
    isNew: before === undefined,
    ...{ typed, state, failure },
    action: before ? settingsPath(visit) : newPath(visit),
    csrf: deps.door.formBinding(visit).csrf,
    seen: shown.seen ?? (before && seenOf(before.version)),
    backUri: before ? poolPath(visit, before.id) : consolePath(visit.organisation, "/pools"),
  });
  await show(visit, frame, page, status);
}

async function create(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const sent = await submission(deps, visit, newPath(visit), ({ signedIn, values, all }) => {
    const expired = { failure: { kind: "expired" }, status: 403 } as const;
    return form(deps, visit, { signedIn, typed: readPool(values, all), ...expired });
  });
  if (!sent) return;
  const { signedIn, values, all } = sent;
  const typed = readPool(values, all);
  const { messages } = await consoleFrame(deps, visit, signedIn, "pools");
  const faults = await poolFaults(typed, deps.clock(), messages);
  if (Object.keys(faults).length > 0)
    return form(deps, visit, { signedIn, typed, state: { faults }, status: 400 });
  try {
    const made = await createPool(deps, actingOn(visit, signedIn), poolInput(typed));
    await goTo(visit, poolPath(visit, made.id, "?done=created"));
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "pool_limit") throw error;
    const { faults: text } = messages.console.pools;
    const failure = { kind: "refused", title: text.tooManyPools(MOST_POOLS) } as const;
    await form(deps, visit, { signedIn, typed, failure, status: 409 });
  }
}

async function change(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const sent = await submission(deps, visit, settingsPath(visit), async ({ signedIn, values, all }) => {
    const before = await poolAt(deps, visit);
    const typed = { ...readPool(values, all), issuerMode: before.issuerMode };
    const expired = { failure: { kind: "expired" }, status: 403 } as const;
    return form(deps, visit, { signedIn, before, typed, seen: values.get("seen"), ...expired });
  });
  if (!sent) return;
  const { signedIn, values, all } = sent;
  const before = await poolAt(deps, visit);
  // In whose name it signs is for good: every reader of its tokens has it.
  const typed = { ...readPool(values, all), issuerMode: before.issuerMode };
  const seen = values.get("seen");
  const { messages } = await consoleFrame(deps, visit, signedIn, "pools");
  const faults = await poolFaults(typed, deps.clock(), messages);
  if (Object.keys(faults).length > 0)
    return form(deps, visit, { signedIn, before, typed, seen, state: { faults }, status: 400 });
  if (seen !== seenOf(before.version)) return changedMeanwhile(deps, visit, { signedIn, before, typed });
  const settings = await checkedSettings(poolInput(typed), deps.clock());
  const after = await changePool(deps, actingOn(visit, signedIn), before, settings);
  if (after) return goTo(visit, poolPath(visit, after.id, "?done=saved"));
  await changedMeanwhile(deps, visit, { signedIn, before: await poolAt(deps, visit), typed });
}

async function changedMeanwhile(
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, before, typed }: { signedIn: SignedIn; before: SigningPool; typed: TypedPool },
): Promise<void> {
  const { messages } = await consoleFrame(deps, visit, signedIn, "pools");
  const { yes, no } = messages.console.frame;
  const words = ({ algs, requireX5c, trustedRoots, ...texts }: TypedPool) => ({
    ...texts,
    algs: algs.join(", "),
    trustedRoots: trustedRoots.trim(),
    requireX5c: requireX5c ? yes : no,
  });
  const isNow = differing(words(typed), words(typedPool(before)));
  const by = await lastChangeOf(deps, visit.organisation.id, before.id, messages);
  const failure = { kind: "changed", by } as const;
  await form(deps, visit, { signedIn, before, typed, state: { isNow }, failure, status: 409 });
}
