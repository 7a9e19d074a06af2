/** Creates a signing pool, and changes its settings, except its issuer mode. */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { lockPoolForUpdate } from "../../../core/signing-pools/signing-pool.store.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { editRoute } from "../../../page-kit/edit-form.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { showFormInTab } from "../../../page-kit/record-tabs.ts";
import { VersionConflict } from "../../../page-kit/record-version.ts";
import { changePool, checkPoolSettings, createPool, MAX_POOLS } from "../admin-api/pools.ts";
import { poolSettings } from "./pool.page.ts";
import { newPoolPage, poolForm } from "./pool-form.page.ts";
import {
  emptyPool,
  type PoolInput,
  poolFaults,
  readPoolInput,
  toNewPool,
  toPoolInput,
} from "./pool-input.ts";
import { poolPath, requirePool } from "./pool-path.ts";
import { poolRecord, SETTINGS } from "./pool-record.ts";

export function newPoolRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/pools/new", { get: showNewPool, post: createFromForm });
}

async function showNewPool(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: emptyPool });
}

const showForm = (deps: ConsoleDeps, visit: Visit, signedIn: SignedIn, shown: FormShown<PoolInput>) =>
  showFormPage(deps, visit, signedIn, "pools", shown, newPoolPage);

async function createFromForm(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = readPoolInput(form);
  const rerender = (shown: Partial<FormShown<PoolInput>>) =>
    showForm(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const { organisation } = visit;
  const messages = pageMessages(visit, signedIn);
  const faults = await poolFaults(input, deps.clock(), messages);
  if (Object.keys(faults).length > 0) return rerender({ state: { faults }, status: 400 });
  try {
    const by = auditContext(visit, signedIn);
    const created = await applyOnce(deps, form, (inside) => createPool(inside, by, toNewPool(input)));
    if (created === "duplicate-submission") {
      const result = { label: messages.console.frame.pages.pools, uri: consolePath(organisation, "/pools") };
      return rerender(duplicateSubmission({ result }));
    }
    await redirectTo(visit, poolPath(organisation, created, "?done=created"));
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "pool_limit") throw error;
    const title = messages.console.pools.faults.tooManyPools({ max: MAX_POOLS });
    await rerender({ failure: { kind: "refused", title }, status: 409 });
  }
}

export function poolSettingsRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/pools/:pool/settings", {
    current: "pools",
    readOnlyAllowed: true,
    load: requirePool,
    lock: (tx, { orgId, id }) => lockPoolForUpdate(tx, orgId, id),
    version: ({ version }) => version,
    toInput: toPoolInput,
    // The issuer mode can't change: every verifier of the pool's tokens relies on it.
    readInput: (form, { record: { issuerMode, threshold, trustedRoots } }) => ({
      ...readPoolInput(form),
      issuerMode,
      // A group key has no choice (threshold-and-ledger.md §1).
      ...(threshold && {
        ...{ algs: ["EdDSA" as const], requireX5c: false, approvals: "1" },
        trustedRoots: trustedRoots.join(""),
      }),
    }),
    toDisplay: ({ algs, requireX5c, trustedRoots, ...texts }, { messages: { console, format } }) => ({
      ...texts,
      maxTokenLifetimeSeconds: format.lifetime(Number(texts.maxTokenLifetimeSeconds)),
      tokenWaitSeconds: format.lifetime(Number(texts.tokenWaitSeconds)),
      keyPublishDelaySeconds: format.lifetime(Number(texts.keyPublishDelaySeconds)),
      algs: algs.join(", "),
      trustedRoots: trustedRoots.trim(),
      requireX5c: requireX5c ? console.frame.yes : console.frame.no,
    }),
    page: (form, editing) =>
      showFormInTab(deps, poolRecord, "settings", form, {
        ...editing,
        labels: editing.messages.console.pools.fields,
        content: (view) => poolSettings(poolForm(form, view.pool.threshold !== null), view),
      }),
    validate: async (input, { messages }) => {
      const faults = await poolFaults(input, deps.clock(), messages);
      if (Object.keys(faults).length > 0) return { faults };
      return { content: await checkPoolSettings(toNewPool(input), deps.clock()) };
    },
    save: async (inside, content, { visit, acting, record }) => {
      if (!(await changePool(inside, acting, record, content))) throw new VersionConflict();
      return poolPath(visit.organisation, record, `${SETTINGS}?done=saved`);
    },
  });
}
