/** Disabling, enabling and deleting a signing pool: each is asked on a page of its own. */
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { applicationsOfPool } from "../../../core/signing-pools/registration.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { html, linkAddress } from "../../../html/html.ts";
import { confirmedActRoute, WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/visit.ts";
import { deletePool } from "../admin-api/pool-changes.ts";
import { disablePool } from "../admin-api/pools.ts";
import { findPoolAt, poolCrumbs } from "./pool-visit.ts";

export function poolActRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  for (const act of ["disable", "enable"] as const) ableRoute(app, deps, act);
  deleteRoute(app, deps);
}

function ableRoute(app: FastifyInstance, deps: ConsoleDeps, act: "disable" | "enable"): void {
  const disabled = act === "disable";
  confirmedActRoute<SigningPool>(app, deps, {
    path: `/pools/:pool/${act}`,
    current: "pools",
    find: (organisation, { pool }) => findPoolAt(deps, { organisation }, pool),
    overFor: ({ id, disabledAt }) => ((disabledAt !== null) === disabled ? `/pools/${id}` : undefined),
    question: (messages, pool, organisation) => {
      const text = messages.console.pools[act];
      return {
        heading: text.heading({ name: pool.name }),
        text: html`<p>${text.text}</p>`,
        confirm: text.submit,
        confirmId: `pool-${act}-confirm`,
        isHarmless: !disabled,
        back: `/pools/${pool.id}`,
        breadcrumbs: poolCrumbs({ organisation }, messages, pool),
      };
    },
    act: async (by, { id }) => {
      if (!(await disablePool(deps, by, { id, disabled }))) throw new WasSoAlready(`/pools/${id}`);
      return `/pools/${id}?done=${act}d`;
    },
  });
}

/** As many as a person reads. */
const MOST_NAMED = 10;

interface Found {
  readonly pool: SigningPool;
  readonly applications: ReadonlyArray<{ readonly id: string; readonly name: string }>;
}

function deleteRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmedActRoute<Found>(app, deps, {
    path: "/pools/:pool/delete",
    current: "pools",
    find: async (organisation, { pool: poolId }) => {
      const pool = await findPoolAt(deps, { organisation }, poolId);
      if (!pool) return undefined;
      const used = { orgId: pool.orgId, poolId: pool.id, limit: MOST_NAMED };
      return { pool, applications: await applicationsOfPool(deps.database.query, used) };
    },
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
        back: `/pools/${pool.id}`,
        breadcrumbs: poolCrumbs({ organisation }, messages, pool),
      };
    },
    act: async (by, { pool }, _form, { messages }) => {
      const { remove: text } = messages.console.pools;
      if ((await deletePool(deps, by, pool.id)) === "in-use")
        return { kind: "refused", title: text.refused, text: text.inUse };
      return "/pools?done=deleted";
    },
  });
}

const inUse = (applications: Found["applications"], organisation: Organisation, text: string) =>
  html`<p>${text}</p><ul class="plain-list">${applications.map(
    ({ id, name }) =>
      html`<li><a href="${linkAddress(consolePath(organisation, `/applications/${id}`))}"><bdi>${name}</bdi></a></li>`,
  )}</ul>`;
