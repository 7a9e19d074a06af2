/** pools/{pool}/settings: all of a signing pool but in whose name it signs. */
import type { FastifyInstance } from "fastify";
import { holdPool } from "../../../core/signing-pools/registration.store.ts";
import { editForm } from "../../../page-kit/edit-form.ts";
import { ChangedMeanwhile } from "../../../page-kit/submission.ts";
import type { ConsoleDeps } from "../../../page-kit/visit.ts";
import { changePool } from "../admin-api/pool-changes.ts";
import { checkedSettings } from "../admin-api/pools.ts";
import { poolFormPage } from "./pool-form.page.ts";
import { poolFaults, poolInput, readPool, typedPool } from "./pool-form.ts";
import { poolAt, poolCrumbs, poolPath } from "./pool-visit.ts";

export function poolSettingsRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  editForm(app, deps, {
    path: "/pools/:pool/settings",
    current: "pools",
    find: poolAt,
    hold: (tx, { orgId, id }) => holdPool(tx, orgId, id),
    seenIn: ({ version }) => version,
    typedOf: typedPool,
    // In whose name it signs is for good: every reader of its tokens has it.
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
      return { content: await checkedSettings(poolInput(typed), deps.clock()) };
    },
    keep: async (inside, content, { visit, acting, found }) => {
      if (!(await changePool(inside, acting, found, content))) throw new ChangedMeanwhile();
      return poolPath(visit, found.id, "?done=saved");
    },
  });
}
