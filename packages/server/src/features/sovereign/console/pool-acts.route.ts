/** Disables, enables and deletes a signing pool, each with a confirmation page. */
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { listPoolApplications } from "../../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { html, linkAddress } from "../../../html/html.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { deletePool, disablePool } from "../admin-api/pools.ts";
import { findPoolAt, poolCrumbs } from "./pool-visit.ts";

export function poolActRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/disable", statusChange("disable"));
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/enable", statusChange("enable"));
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/delete", deletion);
}

function statusChange(act: "disable" | "enable"): Confirmation<ConsoleDeps, SigningPool> {
  const disabled = act === "disable";
  return {
    current: "pools",
    load: (deps, organisation, { pool }) => findPoolAt(deps, { organisation }, pool),
    backUri: (organisation, { id }) => consolePath(organisation, `/pools/${id}`),
    isDone: (_, { disabledAt }) => (disabledAt !== null) === disabled,
    question: (messages, pool, organisation) => {
      const text = messages.console.pools[act];
      return {
        heading: text.heading({ name: pool.name }),
        text: html`<p>${text.text}</p>`,
        confirm: text.submit,
        confirmId: `pool-${act}-confirm`,
        isHarmless: !disabled,
        breadcrumbs: poolCrumbs({ organisation }, messages, pool),
      };
    },
    apply: async (deps, by, { id }, { organisation }) => {
      if (!(await disablePool(deps, by, { id, disabled }))) return alreadyApplied;
      return applied(consolePath(organisation, `/pools/${id}?done=${act}d`));
    },
  };
}

/** Applications listed on the page. */
const MOST_NAMED = 10;

interface Found {
  readonly pool: SigningPool;
  readonly applications: ReadonlyArray<{ readonly id: string; readonly name: string }>;
}

const deletion: Confirmation<ConsoleDeps, Found> = {
  current: "pools",
  load: async (deps, organisation, { pool: poolId }) => {
    const pool = await findPoolAt(deps, { organisation }, poolId);
    if (!pool) return undefined;
    const used = { orgId: pool.orgId, poolId: pool.id, limit: MOST_NAMED };
    return { pool, applications: await listPoolApplications(deps.database.query, used) };
  },
  backUri: (organisation, { pool }) => consolePath(organisation, `/pools/${pool.id}`),
  question: (messages, { pool, applications }, organisation) => {
    const { remove: text } = messages.console.pools;
    return {
      heading: text.heading({ name: pool.name }),
      text: [
        html`<p>${text.text}</p>`,
        applications.length > 0 && inUse(applications, organisation, text.inUse),
      ],
      confirm: text.submit,
      confirmId: "pool-delete-confirm",
      name: pool.name,
      breadcrumbs: poolCrumbs({ organisation }, messages, pool),
    };
  },
  apply: async (deps, by, { pool }, { organisation, messages }) => {
    const { remove: text } = messages.console.pools;
    if ((await deletePool(deps, by, pool.id)) === "in-use")
      return { kind: "refused", title: text.refused, text: text.inUse };
    return applied(consolePath(organisation, "/pools?done=deleted"));
  },
};

const inUse = (applications: Found["applications"], organisation: Organisation, text: string) =>
  html`<p>${text}</p><ul class="plain-list">${applications.map(
    ({ id, name }) =>
      html`<li><a href="${linkAddress(consolePath(organisation, `/applications/${id}`))}"><bdi>${name}</bdi></a></li>`,
  )}</ul>`;
