/** Creates a signing pool. */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { createPool, MAX_POOLS } from "../admin-api/pools.ts";
import { poolFormPage } from "./pool-form.page.ts";
import { newPool, poolFaults, poolInput, readPool, type TypedPool } from "./pool-form.ts";
import { poolCrumbs, poolPath } from "./pool-visit.ts";

export function newPoolRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/pools/new", { get: showNewPool, post: createFromForm });
}

async function showNewPool(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: newPool });
}

async function showForm(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  shown: FormShown<TypedPool>,
): Promise<void> {
  const view = await formView(deps, visit, signedIn, "pools", shown);
  const page = poolFormPage({
    ...view,
    typed: view.input,
    breadcrumbs: poolCrumbs(visit, view.messages),
    isNew: true,
    backUri: consolePath(visit.organisation, "/pools"),
  });
  await show(visit, view, page, shown.status);
}

async function createFromForm(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values, all } = form;
  const input = readPool(values, all);
  const rerender = (shown: Partial<FormShown<TypedPool>>) =>
    showForm(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const faults = await poolFaults(input, deps.clock(), messages);
  if (Object.keys(faults).length > 0) return rerender({ state: { faults }, status: 400 });
  try {
    const by = auditContext(visit, signedIn);
    const created = await applyOnce(deps, form, (inside) => createPool(inside, by, poolInput(input)));
    if (created === "duplicate-submission") {
      const { pages } = messages.console.frame;
      const made = { label: pages.pools, uri: consolePath(visit.organisation, "/pools") };
      return rerender(duplicateSubmission({ made }));
    }
    await redirectTo(visit, poolPath(visit, created.id, "?done=created"));
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "pool_limit") throw error;
    const { faults: text } = messages.console.pools;
    const failure = { kind: "refused", title: text.tooManyPools({ max: MAX_POOLS }) } as const;
    await rerender({ failure, status: 409 });
  }
}
