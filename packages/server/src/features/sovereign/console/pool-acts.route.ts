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
    isDone: (_, { disabledAt }) => (disabledAt !== null) === disabled,
    question: (messages, pool, organisation) => {
      const text = messages.console.pools[act];
      return {
        heading: text.heading({ name: pool.name }),
        text: html`<p>${text.text}</p>`,
        confirm: text.submit,
        confirmId: `pool-${act}-confirm`,
        isHarmless: !disabled,
        breadcrumbs: poolCrumbs(organisation, messages, pool),
      };
    },
    apply: async (deps, by, pool, { organisation }) => {
      if (!(await disablePool(deps, by, { id: pool.id, disabled }))) return alreadyApplied;
      return applied(poolPath(organisation, pool, `?done=${act}d`));
    },
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
  question: (messages, { pool, applications }, organisation) => {
    const { remove: text } = messages.console.pools;
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
      breadcrumbs: poolCrumbs(organisation, messages, pool),
    };
  },
  apply: async (deps, by, { pool }, { organisation, messages }) => {
    const { remove: text } = messages.console.pools;
    if ((await deletePool(deps, by, pool.id)) === "in-use")
      return { kind: "refused", title: text.refused, text: text.inUse };
    return applied(consolePath(organisation, "/pools?done=deleted"));
  },
};
