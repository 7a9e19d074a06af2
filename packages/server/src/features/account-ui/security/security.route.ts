/** GET account/security: password, second factors, recovery codes and trusted browsers. */

import type { FastifyInstance } from "fastify";
import { listSignInButtons } from "../../../core/connections/connections.store.ts";
import { listIdentities } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { servedKinds } from "../../../core/domains/routed-sign-in.ts";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { offeredFactors } from "../../../core/organisations/sign-in-methods.ts";
import { factorOwner } from "../../../core/second-factors/factor-status.ts";
import { listPasskeys } from "../../../core/second-factors/passkeys/passkeys.store.ts";
import { accountSignals } from "../../../core/second-factors/passkeys/passkeys.ts";
import { findFactorSummary, findTotp } from "../../../core/second-factors/second-factors.store.ts";
import {
  findTrustedBrowser,
  listTrustedBrowsers,
} from "../../../core/second-factors/trusted-browsers/trusted-browsers.store.ts";
import { findPasswordChangedAt } from "../../../core/users/account.store.ts";
import { messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { show } from "../../../page-kit/page.ts";
import { accountRoute } from "../account-form.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFrame,
  accountPath,
  isHomeUser,
} from "../account-page.ts";
import { type SecurityDone, type SecurityView, securityPage } from "./security.page.ts";

export function securityRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security", {
    show: showSecurity,
  });
}

async function showSecurity(deps: AccountDeps, visit: AccountVisit): Promise<void> {
  const { organisation, user } = visit;
  const now = deps.clock();
  const db = deps.database.query;
  const frame = accountFrame(visit, "security");
  const trustedBrowsers = await listTrustedBrowsers(db, user, now);
  const thisOne = await findTrustedBrowser(db, user, deps.browserSession.trustedBrowserToken(visit), now);
  const path = (rest: string) => accountPath(organisation, `security/${rest}`);
  const page = securityPage({
    ...frame,
    isRequired: organisation.settings.secondFactor === "required",
    offered: offeredFactors(organisation.settings),
    done: readDone(parseQuery(visit.request).values.get("done")),
    factors: isHomeUser(visit) ? await loadFactors(deps, visit, path) : undefined,
    trustedBrowsers: trustedBrowsers.map((browser) => ({
      name: browserName(browser.userAgent),
      isCurrent: browser.id === thisOne?.id,
      lastUsedAt: browser.lastUsedAt,
      expiresAt: browser.expiresAt,
      uri: path(`browsers?id=${encodeURIComponent(browser.id)}`),
    })),
    forgetAllUri: path("browsers"),
  });
  return show(visit, frame, page);
}

async function loadFactors(
  { database, linkConnectionUri, relyingParty }: AccountDeps,
  visit: AccountVisit,
  path: (rest: string) => string,
): Promise<SecurityView["factors"]> {
  const { organisation, user } = visit;
  const owner = factorOwner(user);
  const totp = await findTotp(database.query, owner);
  const passkeys = await listPasskeys(database.query, owner);
  const { recoveryCodes } = await findFactorSummary(database.query, owner);
  const linked = await listIdentities(database.query, { orgId: user.orgId, userIds: [user.id] });
  const offered = await listSignInButtons(database.query, user.orgId, servedKinds);
  return {
    passwordSince: await findPasswordChangedAt(database.query, user),
    totpSince: totp?.createdAt,
    passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt, isBackedUp }) => {
      const uri = path(`passkey?id=${encodeURIComponent(id)}`);
      return { name, createdAt, lastUsedAt, isBackedUp, uri };
    }),
    identities: linked.map(({ connectionId, name, createdAt }) => {
      const uri = path(`connection?id=${encodeURIComponent(connectionId)}`);
      return { connectionId, name, createdAt, uri };
    }),
    linkable: offered
      .filter(({ id }) => !linked.some(({ connectionId }) => connectionId === id))
      .map(({ id, name }) => ({ connectionId: id, name, uri: linkConnectionUri(visit, id, user.id) })),
    recoveryCodes,
    signals: accountSignals({
      ...{ relyingParty, user, organisationName: organisation.name, existing: passkeys },
    }),
    uris: {
      password: accountPath(organisation, "password"),
      authenticator: path("authenticator"),
      authenticatorRemoval: path("authenticator/removal"),
      newPasskey: path("passkeys"),
      recoveryCodes: path("recovery-codes"),
    },
  };
}

/** Ignores unknown values of the query parameter. */
function readDone(text: string | undefined): SecurityDone | undefined {
  const known = Object.keys(messages([]).security.done) as SecurityDone[];
  return [...known, "passwordChanged" as const].find((done) => done === text);
}
