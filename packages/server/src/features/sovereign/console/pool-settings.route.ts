/** Changes the settings of a signing pool, except its issuer mode. */
import type { FastifyInstance } from "fastify";
import { lockPoolForUpdate } from "../../../core/signing-pools/signing-pool.store.ts";
import { editRoute } from "../../../page-kit/edit-form.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { VersionConflict } from "../../../page-kit/record-version.ts";
import { changePool, checkPoolSettings } from "../admin-api/pools.ts";
import { poolFormPage } from "./pool-form.page.ts";
import { poolFaults, poolInput, readPool, typedPool } from "./pool-form.ts";
import { poolAt, poolCrumbs, poolPath } from "./pool-visit.ts";

export function poolSettingsRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/pools/:pool/settings", {
    current: "pools",
    load: poolAt,
    lock: (tx, { orgId, id }) => lockPoolForUpdate(tx, orgId, id),
    version: ({ version }) => version,
    toInput: typedPool,
    // The issuer mode can't change: every verifier of the pool's tokens relies on it.
    readInput: ({ values, all }, { record }) => ({ ...readPool(values, all), issuerMode: record.issuerMode }),
    toDisplay: ({ algs, requireX5c, trustedRoots, ...texts }, { messages: { console } }) => ({
      ...texts,
      algs: algs.join(", "),
      trustedRoots: trustedRoots.trim(),
      requireX5c: requireX5c ? console.frame.yes : console.frame.no,
    }),
    page: (view, { visit, record }) =>
      poolFormPage({
        ...view,
        typed: view.input,
        breadcrumbs: poolCrumbs(visit, view.messages, record),
        isNew: false,
        backUri: poolPath(visit, record.id),
      }),
    validate: async (typed, { messages }) => {
      const faults = await poolFaults(typed, deps.clock(), messages);
      if (Object.keys(faults).length > 0) return { faults };
      return { content: await checkPoolSettings(poolInput(typed), deps.clock()) };
    },
    save: async (inside, content, { visit, acting, record }) => {
      if (!(await changePool(inside, acting, record, content))) throw new VersionConflict();
      return poolPath(visit, record.id, "?done=saved");
    },
  });
}
