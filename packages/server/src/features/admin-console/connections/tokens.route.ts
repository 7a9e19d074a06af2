/** Tokens of a directory's connection: adding one, which is shown once, and revoking one. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import {
  type Connection,
  type ConnectionToken,
  InvalidConnection,
} from "../../../core/connections/connection.ts";
import { listTokens } from "../../../core/connections/connections.store.ts";
import { createToken, revokeToken } from "../../../core/connections/connections.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import type { Html } from "../../../html/html.ts";
import { NotFound } from "../../../http/errors.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consoleRoute,
  redirectTo,
  requireId,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import {
  type CredentialInput,
  credentialContent,
  credentialFaults,
  credentialPage,
  emptyPeriod,
  readCredentialInput,
} from "../credential-form.ts";
import { type ConnectionsDeps, connectionPages, isDirectory, TOKENS } from "./connection-pages.ts";
import { beyondLink, requireTokenByLink } from "./portal-authority.ts";
import { tokenName } from "./tokens.page.ts";

export function connectionTokensRoutes(app: FastifyInstance, deps: ConnectionsDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/connections/:id/tokens/new", {
    get: showNewToken,
    post: addToken,
  });
  confirmationRoute(app, deps, "/oauth/manage/:org/connections/:id/tokens/:token/end", revocation);
}

/** Days. */
const lifetimes = ["90", "180", "365", "730", "never"];

/** @throws NotFound where it is no directory's */
async function requireDirectory(deps: ConnectionsDeps, visit: Visit): Promise<Connection> {
  const connection = await connectionPages.require(deps, visit);
  if (!isDirectory(connection)) throw new NotFound("connection of a directory");
  return connection;
}

async function showNewToken(deps: ConnectionsDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireRecentAuthentication(deps, visit);
  const connection = await requireDirectory(deps, visit);
  const input = { label: "", lifetime: "365", period: emptyPeriod, others: "later" };
  await showForm(deps, visit, signedIn, connection, { input });
}

const showForm = (
  deps: ConnectionsDeps,
  visit: Visit,
  signedIn: SignedIn,
  connection: Connection,
  shown: FormShown<CredentialInput>,
) => showFormPage(deps, visit, signedIn, "connections", shown, (view) => tokenPage(view, connection));

function tokenPage(view: FormView<CredentialInput>, connection: Connection): Html {
  const { tokens: text } = view.messages.console.connections;
  const breadcrumbs = connectionPages.crumbs(view, connection);
  return credentialPage(view, { breadcrumbs, noun: "token", summary: text.text }, lifetimes, text);
}

async function addToken(deps: ConnectionsDeps, visit: Visit): Promise<void> {
  const id = requireId(visit);
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = { ...readCredentialInput(form.values), others: "later" };
  const connection = await requireDirectory(deps, visit);
  const rerender = (shown: Partial<FormShown<CredentialInput>>) =>
    showForm(deps, visit, signedIn, connection, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const { frame, connections } = messages.console;
  const { tokens: text } = connections;
  const faults = credentialFaults(input, lifetimes, text, messages);
  if (faults) return rerender({ state: { faults }, status: 400 });
  const { label, expiresAt } = credentialContent(input, deps.clock());
  const wanted = { ...auditContext(visit, signedIn), id, label, expiresAt };
  const tokensUri = connectionPages.path(visit.organisation, id, TOKENS);
  try {
    requireTokenByLink(signedIn);
    const created = await applyOnce(deps, form, (inside) => createToken(inside, wanted));
    if (created === "duplicate-submission") {
      const result = { label: text.title, uri: tokensUri };
      return await rerender(duplicateSubmission({ result, secret: frame.sentBefore.secret.clientSecret }));
    }
    // Deleted meanwhile.
    if (!created) throw new NotFound("connection");
    await showToken(deps, visit, signedIn, { connection, token: created.token, doneUri: tokensUri });
  } catch (error) {
    const failure = beyondLink(error, messages);
    if (failure) return rerender({ failure, status: 403 });
    if (!(error instanceof InvalidConnection)) throw error;
    if (error.code === "too-many-tokens") return redirectTo(visit, tokensUri);
    await rerender({ state: { faults: { label: text.labelFault } }, status: 400 });
  }
}

/** What the directory is set up with. */
async function showToken(
  deps: ConnectionsDeps,
  visit: Visit,
  signedIn: SignedIn,
  { connection, token, doneUri }: { connection: Connection; token: string; doneUri: string },
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "connections");
  const { directory, tokens: text } = frame.messages.console.connections;
  const { orgId, id, name } = connection;
  const page = shownOncePage({
    ...frame,
    breadcrumbs: connectionPages.crumbs(frame, connection),
    title: text.shownTitle({ name }),
    text: text.shownText,
    values: [
      { id: "scim-url", title: directory.url, lines: `${deps.baseUrl}/scim/v2/${orgId}/${id}` },
      { id: "scim-token", title: text.token, lines: token, isSecret: true, variable: "SCIM_TOKEN" },
    ],
    doneUri,
  });
  await show(visit, frame, page);
}

interface PendingToken {
  readonly connection: Connection;
  readonly token: ConnectionToken;
}

const revocation: Confirmation<ConnectionsDeps, PendingToken> = {
  ...aboutRecord(connectionPages, ({ connection }: PendingToken) => connection, TOKENS),
  load: async (deps, organisation, { token: tokenId = "", ...params }) => {
    const connection = await connectionPages.find(deps, organisation, params);
    if (!connection || !isUuid(tokenId)) return undefined;
    const tokens = await listTokens(deps.database.query, connection);
    const token = tokens.find(({ id }) => id === tokenId.toLowerCase());
    return token && { connection, token };
  },
  question: (messages, { connection: { name }, token }) => {
    const { tokens: text } = messages.console.connections;
    return {
      heading: text.endHeading({ name: tokenName(token, messages) }),
      text: text.endText({ name }),
      confirm: text.endConfirm,
      confirmId: "token-end-confirm",
    };
  },
  apply: async (deps, acting, { connection: { id }, token }) =>
    (await revokeToken(deps, { ...acting, id, tokenId: token.id })) ? done("tokenEnded") : alreadyApplied,
};
