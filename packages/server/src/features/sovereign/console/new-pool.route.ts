/** pools/new: making a signing pool. */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormState } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import {
  actingOn,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { createPool, MOST_POOLS } from "../admin-api/pools.ts";
import { poolFormPage } from "./pool-form.page.ts";
import { newPool, poolFaults, poolInput, readPool, type TypedPool } from "./pool-form.ts";
import { poolCrumbs, poolPath } from "./pool-visit.ts";

export function newPoolRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/pools/new", {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, newPath(visit));
      if (signedIn) await form(deps, visit, { signedIn, typed: newPool });
    },
    post: (visit) => create(deps, visit),
  });
}

const newPath = ({ organisation }: Visit): string => consolePath(organisation, "/pools/new");

interface FormShown {
  readonly signedIn: SignedIn;
  readonly typed: TypedPool;
  readonly state?: FormState;
  readonly failure?: FormFailure | undefined;
  readonly status?: number;
}

async function form(deps: ConsoleDeps, visit: Visit, shown: FormShown): Promise<void> {
  const { signedIn, typed, state = {}, failure, status } = shown;
  const frame = await consoleFrame(deps, visit, signedIn, "pools");
  const page = poolFormPage({
    ...frame,
    breadcrumbs: poolCrumbs(visit, frame.messages),
    isNew: true,
    ...{ typed, state, failure },
    action: newPath(visit),
    csrf: deps.door.formBinding(visit).csrf,
    seen: undefined,
    once: newOnce(deps),
    backUri: consolePath(visit.organisation, "/pools"),
  });
  await show(visit, frame, page, status);
}

async function create(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const again = ({ signedIn, values, all }: Submission, refusal: Refusal) =>
    form(deps, visit, { signedIn, typed: readPool(values, all), ...refusal });
  const sent = await making(deps, visit, newPath(visit), again, ({ console: { frame } }) => ({
    made: { label: frame.pages.pools, uri: consolePath(visit.organisation, "/pools") },
  }));
  if (!sent) return;
  const { signedIn, values, all } = sent;
  const typed = readPool(values, all);
  const { messages } = await consoleFrame(deps, visit, signedIn, "pools");
  const faults = await poolFaults(typed, deps.clock(), messages);
  if (Object.keys(faults).length > 0)
    return form(deps, visit, { signedIn, typed, state: { faults }, status: 400 });
  try {
    const by = actingOn(visit, signedIn);
    const made = await sent.once((database) => createPool({ ...deps, database }, by, poolInput(typed)));
    if (made) await goTo(visit, poolPath(visit, made.id, "?done=created"));
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "pool_limit") throw error;
    const { faults: text } = messages.console.pools;
    const failure = { kind: "refused", title: text.tooManyPools({ max: MOST_POOLS }) } as const;
    await form(deps, visit, { signedIn, typed, failure, status: 409 });
  }
}
