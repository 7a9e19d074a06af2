/** Disables, enables and deletes a signing pool, each with a confirmation page. */
import type { FastifyInstance } from "fastify";
import { listPoolApplications } from "../../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { applicationLinks } from "../../../html/components/parts.ts";
import { html } from "../../../html/html.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { deletePool, disablePool } from "../admin-api/pools.ts";
import { findPoolAt, poolCrumbs, poolPath } from "./pool-path.ts";

export function poolActRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/disable", statusChange("disable"));
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/enable", statusChange("enable"));
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/delete", deletion);
}

function statusChange(act: "disable" | "enable"): Confirmation<ConsoleDeps, SigningPool> {
  const disabled = act === "disable";
  return {
    current: "pools",
    load: findPoolAt,
    backUri: poolPath,
    breadcrumbs: (frame, pool) => poolCrumbs(frame, { pool }),
    isDone: (_, { disabledAt }) => (disabledAt !== null) === disabled,
    question: ({ console: { pools } }, { name }) => {
      const text = pools[act];
      return {
        heading: text.heading({ name }),
        text: text.text,
        confirm: text.submit,
        confirmId: `pool-${act}-confirm`,
        isHarmless: !disabled,
      };
    },
    apply: async (deps, by, { id }) =>
      (await disablePool(deps, by, { id, disabled })) ? done(`${act}d`) : alreadyApplied,
  };
}

/** Applications listed on the page. */
const MAX_NAMED = 10;

const deletion: Confirmation<
  ConsoleDeps,
  { pool: SigningPool; applications: Awaited<ReturnType<typeof listPoolApplications>> }
> = {
  current: "pools",
  load: async (deps, organisation, params) => {
    const pool = await findPoolAt(deps, organisation, params);
    if (!pool) return undefined;
    const used = { orgId: pool.orgId, poolId: pool.id, limit: MAX_NAMED };
    return { pool, applications: await listPoolApplications(deps.database.query, used) };
  },
  backUri: (organisation, { pool }) => poolPath(organisation, pool),
  breadcrumbs: poolCrumbs,
  question: ({ console: { pools } }, { pool, applications }, organisation) => {
    const { remove: text } = pools;
    return {
      heading: text.heading({ name: pool.name }),
      text: [
        html`<p>${text.text}</p>`,
        applications.length > 0 &&
          html`<p>${text.inUse}</p>${applicationLinks(applications, (rest) => consolePath(organisation, rest))}`,
      ],
      confirm: text.submit,
      confirmId: "pool-delete-confirm",
      name: pool.name,
    };
  },
  apply: async (deps, by, { pool }, { organisation, messages }) => {
    const { remove: text } = messages.console.pools;
    if ((await deletePool(deps, by, pool.id)) === "in-use")
      return { kind: "refused", title: text.refused, text: text.inUse };
    return applied(consolePath(organisation, "/pools?done=deleted"));
  },
};
