/** Changes the settings of a signing pool, except its issuer mode. */
import type { FastifyInstance } from "fastify";
import { lockPoolForUpdate } from "../../../core/signing-pools/signing-pool.store.ts";
import { editForm } from "../../../page-kit/edit-form.ts";
import { ChangedMeanwhile } from "../../../page-kit/submission.ts";
import type { ConsoleDeps } from "../../../page-kit/visit.ts";
import { checkPoolSettings } from "../admin-api/pool-settings.ts";
import { changePool } from "../admin-api/pools.ts";
import { poolFormPage } from "./pool-form.page.ts";
import { poolFaults, poolInput, readPool, typedPool } from "./pool-form.ts";
import { poolAt, poolCrumbs, poolPath } from "./pool-visit.ts";

export function poolSettingsRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  editForm(app, deps, {
    path: "/pools/:pool/settings",
    current: "pools",
    find: poolAt,
    hold: (tx, { orgId, id }) => lockPoolForUpdate(tx, orgId, id),
    seenIn: ({ version }) => version,
    typedOf: typedPool,
    // The issuer mode can't change: every verifier of the pool's tokens relies on it.
    read: ({ values, all }, { found }) => ({ ...readPool(values, all), issuerMode: found.issuerMode }),
    inWords: ({ algs, requireX5c, trustedRoots, ...texts }, { messages: { console } }) => ({
      ...texts,
      algs: algs.join(", "),
      trustedRoots: trustedRoots.trim(),
      requireX5c: requireX5c ? console.frame.yes : console.frame.no,
    }),
    page: (view, { visit, found }) =>
      poolFormPage({
        ...view,
        breadcrumbs: poolCrumbs(visit, view.messages, found),
        isNew: false,
        backUri: poolPath(visit, found.id),
      }),
    contentOf: async (typed, { messages }) => {
      const faults = await poolFaults(typed, deps.clock(), messages);
      if (Object.keys(faults).length > 0) return { faults };
      return { content: await checkPoolSettings(poolInput(typed), deps.clock()) };
    },
    keep: async (inside, content, { visit, acting, found }) => {
      if (!(await changePool(inside, acting, found, content))) throw new ChangedMeanwhile();
      return poolPath(visit, found.id, "?done=saved");
    },
  });
}
