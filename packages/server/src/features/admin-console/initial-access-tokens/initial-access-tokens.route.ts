/** Initial access tokens of an organisation (RFC 7591 §1.2): the list, a new one, which is shown once, and the page of one. */
import type { FastifyInstance } from "fastify";
import {
  findInitialAccessToken,
  listInitialAccessTokens,
  lockInitialAccessToken,
} from "../../../core/client-registration/initial-access-tokens.store.ts";
import {
  changeInitialAccessToken,
  createInitialAccessToken,
  deleteInitialAccessToken,
} from "../../../core/client-registration/initial-access-tokens.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { recordPages } from "../../../page-kit/record-pages.ts";
import { plainList } from "../plain-records/plain-list.ts";
import type { PlainRecord } from "../plain-records/plain-record.ts";
import { plainRecordRoutes } from "../plain-records/plain-record-routes.ts";
import {
  newTokenPage,
  type TokenChoices,
  tokenFields,
  tokenGeneral,
  tokenLabels,
  tokenName,
  tokenStatus,
  tokenUses,
} from "./initial-access-token.page.ts";
import {
  changedSettings,
  displayToken,
  emptyToken,
  newSettings,
  readTokenInput,
  type ShownToken,
  shownToken,
  type TokenInput,
  tokenFaults,
  toTokenInput,
  toWantedToken,
  type WantedToken,
} from "./token-input.ts";

export function initialAccessTokensRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const record = tokenRecord(deps);
  listRoute(app, deps, "/oauth/manage/:org/initial-access-tokens", tokenList(record));
  plainRecordRoutes(app, deps, record, {
    create: "/oauth/manage/:org/initial-access-tokens/new",
    general: "/oauth/manage/:org/initial-access-tokens/:id",
    settings: "/oauth/manage/:org/initial-access-tokens/:id/settings",
    activity: "/oauth/manage/:org/initial-access-tokens/:id/activity",
    delete: "/oauth/manage/:org/initial-access-tokens/:id/delete",
  });
}

type TokenRecord = PlainRecord<ConsoleDeps, ShownToken, TokenInput, WantedToken, TokenChoices>;

const tokenPages = ({ clock }: Pick<ConsoleDeps, "clock">) =>
  recordPages<ShownToken>(
    "initialAccessTokens",
    "/initial-access-tokens",
    async (db, orgId, id) => {
      const token = await findInitialAccessToken(db, { orgId, id });
      return token && shownToken(token, clock());
    },
    ({ label, id }) => (label === "" ? id : label),
  );

const tokenRecord = ({ baseUrl, clock }: Pick<ConsoleDeps, "baseUrl" | "clock">): TokenRecord => ({
  ...{ pages: tokenPages({ clock }), path: "/initial-access-tokens", noun: "token", icon: "key" },
  ...{ texts: ({ console }) => console.initialAccessTokens, nameOf: tokenName, labels: tokenLabels },
  facts: () => [],
  status: tokenStatus,
  choices: async ({ database }, orgId) => ({ scopes: await listCustomScopes(database.query, orgId) }),
  ...{ empty: emptyToken, toInput: toTokenInput, readInput: readTokenInput, toDisplay: displayToken },
  fields: tokenFields,
  validate: (input) => ({ content: toWantedToken(input) }),
  lock: (tx, { orgId, id }) => lockInitialAccessToken(tx, { orgId, id }),
  create: async (inside, acting, wanted) => {
    const settings = newSettings(wanted, inside.clock());
    const { record, token } = await createInitialAccessToken(inside, { ...acting, settings });
    return { id: record.id, secret: token };
  },
  secret: {
    page: (frame, shown) => newTokenPage(frame, { ...shown, endpoint: endpointOf(baseUrl, shown.orgId) }),
    sentBefore: ({ console }) => console.initialAccessTokens.sentBefore,
  },
  change: (inside, acting, { id }, wanted) =>
    changeInitialAccessToken(inside, { ...acting, id, change: (before) => changedSettings(wanted, before) }),
  remove: (inside, acting, { id }) => deleteInitialAccessToken(inside, { ...acting, id }),
  faults: tokenFaults,
  general: (_, view) => tokenGeneral(view, endpointOf(baseUrl, view.record.orgId)),
});

const endpointOf = (baseUrl: string, orgId: string): string => `${issuerOf(baseUrl, orgId)}/register`;

const tokenList = (record: TokenRecord) =>
  plainList(record, {
    load: async ({ deps, organisation }) => {
      const tokens = await listInitialAccessTokens(deps.database.query, organisation.id);
      const shown = tokens.map((token) => shownToken(token, deps.clock()));
      // One that is over lets nobody register, as one that is disabled.
      return shown.map((token) => ({ ...token, enabled: token.state === "active" }));
    },
    words: ({ label }) => [label],
    columns: [
      {
        label: ({ console }) => console.initialAccessTokens.registered,
        cell: (token, { messages }) => tokenUses(token, messages),
      },
      {
        label: ({ console }) => console.initialAccessTokens.expires,
        cell: ({ expiresAt }, { messages }) => relativeTime(expiresAt, messages.format.day),
      },
    ],
  });
