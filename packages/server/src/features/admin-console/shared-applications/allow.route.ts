/** An administrator allows an application that another organisation offers, or withdraws it: asked first (connections.md §3, §7). */
import { isUuid } from "@signet/protocol/hash";
import { parseScope } from "@signet/protocol/oauth/scope";
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { isApiScope } from "../../../core/scopes/api-scopes.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { standardScopes } from "../../../core/scopes/scopes.ts";
import {
  enableShared,
  findShared,
  type SharedApplication,
  withdrawShared,
} from "../../../core/shared-applications/shared-applications.ts";
import type { Db } from "../../../db/open.ts";
import { hiddenFields } from "../../../html/components/form.ts";
import { html } from "../../../html/html.ts";
import { waitingRequestCookies } from "../../../http/cookies/browser-cookies.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";

export function allowRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/shared-applications/:id/allow", allowance);
  confirmationRoute(app, deps, "/oauth/manage/:org/shared-applications/:id/withdraw", withdrawal);
}

interface Asked {
  readonly shared: SharedApplication;
  readonly scopes: readonly string[];
  /** The query of the authorization request that led here. */
  readonly query: string | undefined;
}

const LIST = "/shared-applications";

const aboutShared = {
  current: "consents",
  backUri: (organisation: Organisation) => consolePath(organisation, LIST),
} as const;

const load = async (
  { database }: ConsoleDeps,
  { id: orgId }: Organisation,
  { id = "" }: Readonly<Record<string, string>>,
): Promise<SharedApplication | undefined> =>
  isUuid(id) ? findShared(database.query, { orgId, id: id.toLowerCase() }) : undefined;

/** Those of the request, or all, that this organisation has defined. */
async function grantableScopes(
  db: Db,
  orgId: string,
  { home }: SharedApplication,
  query: string | undefined,
): Promise<string[]> {
  const custom = (await listCustomScopes(db, orgId)).map(({ name }) => name);
  const isDefined = (scope: string) =>
    standardScopes.some((one) => one === scope) || isApiScope(scope) || custom.includes(scope);
  const defined = home.settings.allowedScopes.filter(isDefined);
  const asked = parseScope(new URLSearchParams(query ?? "").get("scope") ?? "") ?? [];
  const wanted = defined.filter((scope) => asked.includes(scope));
  return wanted.length > 0 ? wanted : defined;
}

const allowance: Confirmation<ConsoleDeps, Asked> = {
  ...aboutShared,
  breadcrumbs: ({ messages, consoleUri }) => [
    { label: messages.console.consents.tabs.shared, uri: consoleUri(LIST) },
  ],
  load: async (deps, organisation, params, visit) => {
    const shared = await load(deps, organisation, params);
    if (!shared) return undefined;
    const waiting = visit && waitingRequestCookies(deps.baseUrl).read(visit.request, organisation.id);
    const isOfIt = new URLSearchParams(waiting).get("client_id")?.toLowerCase() === shared.home.id;
    const query = isOfIt ? waiting : undefined;
    const scopes = await grantableScopes(deps.database.query, organisation.id, shared, query);
    return scopes.length === 0 ? undefined : { shared, scopes, query };
  },
  isDone: (_, { shared }) => shared.copy !== undefined,
  question: ({ console: { consents } }, { shared: { home, homeName }, scopes }, { name: organisation }) => {
    const text = consents.shared;
    return {
      heading: text.heading({ application: home.name, organisation }),
      text: html`<p>${text.text({ provider: homeName })}</p>
<p>${scopes.map((scope) => html`<code>${scope}</code> `)}</p>
<p>${text.own({ provider: homeName })}</p>`,
      confirm: text.confirm,
      confirmId: "shared-application-allow",
      isHarmless: true,
      fields: hiddenFields([{ name: "scopes", value: scopes.join(" ") }]),
    };
  },
  apply: async (deps, acting, { shared: { home }, scopes, query }, { organisation, values }) => {
    // What was shown is what is allowed: its home may have asked for more since.
    const shown = parseScope(values.get("scopes") ?? "") ?? [];
    const allowed = scopes.filter((scope) => shown.includes(scope));
    if (allowed.length === 0) return alreadyApplied;
    const enabled = await enableShared(deps, { ...acting, id: home.id, scopes: allowed });
    if (!enabled) return alreadyApplied;
    return query === undefined ? done("allowed") : applied(`/oauth/${organisation.id}/authorize?${query}`);
  },
};

const withdrawal: Confirmation<ConsoleDeps, SharedApplication> = {
  ...aboutShared,
  breadcrumbs: ({ messages, consoleUri }) => [
    { label: messages.console.consents.tabs.shared, uri: consoleUri(LIST) },
  ],
  load,
  isDone: (_, { copy }) => copy === undefined,
  question: ({ console: { consents } }, { home }, { name: organisation }) => ({
    heading: consents.shared.withdrawHeading({ application: home.name }),
    text: consents.shared.withdrawText({ organisation }),
    confirm: consents.shared.withdraw,
    confirmId: "shared-application-withdraw",
  }),
  apply: async (deps, acting, { home: { id } }) =>
    (await withdrawShared(deps, { ...acting, id })) ? done("withdrawn") : alreadyApplied,
};
