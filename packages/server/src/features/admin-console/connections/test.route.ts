/** connections/{id}/test and /tests/{test}: a sign-in at the provider that makes nothing, its link and what came back. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { listMappableGroups } from "../../../core/connections/sign-in/claimed-groups.store.ts";
import {
  type ConnectionTest,
  findConnectionTest,
} from "../../../core/connections/sign-in/connection-tests.store.ts";
import { createConnectionTest, openTestResult } from "../../../core/connections/sign-in/connection-tests.ts";
import {
  isSignInConnection,
  type SignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { NotFound } from "../../../http/errors.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import { livePieceRoute } from "../../../page-kit/live-piece.ts";
import {
  auditContext,
  consolePath,
  consoleRoute,
  pathParams,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { type ConnectionsDeps, connectionPages } from "./connection-pages.ts";
import { startTestPage, TEST, testLinkPage, testPanel, testResultPage } from "./test.page.ts";

export function connectionTestRoutes(app: FastifyInstance, deps: ConnectionsDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/connections/:id/test", { get: showStart, post: startTest });
  consoleRoute(app, deps, "/oauth/manage/:org/connections/:id/tests/:test", { get: showResult });
  livePieceRoute(
    app,
    deps,
    "/oauth/manage/:org/connections/:id/tests/:test/state",
    async (_, visit, messages) => {
      const connection = await requireProvider(deps, visit);
      const test = await findTest(deps, visit, connection);
      const consoleUri = (rest: string) => consolePath(visit.organisation, rest);
      return test && testPanel({ messages, consoleUri }, connection, test);
    },
  );
}

/** @throws NotFound where it is a directory's */
async function requireProvider(deps: ConnectionsDeps, visit: Visit): Promise<SignInConnection> {
  const connection = await connectionPages.require(deps, visit);
  if (!isSignInConnection(connection)) throw new NotFound("connection to a provider");
  return connection;
}

async function findTest(
  { database, clock }: ConnectionsDeps,
  visit: Visit,
  { orgId, id: connectionId }: SignInConnection,
): Promise<ConnectionTest | undefined> {
  const { test: id = "" } = pathParams(visit);
  return isUuid(id)
    ? findConnectionTest(database.query, { orgId, connectionId, id: id.toLowerCase() }, clock())
    : undefined;
}

async function showStart(deps: ConnectionsDeps, visit: Visit): Promise<void> {
  const signedIn = await requireAdministrator(deps, visit);
  await showForm(deps, visit, signedIn, await requireProvider(deps, visit), { input: {} });
}

const showForm = (
  deps: ConnectionsDeps,
  visit: Visit,
  signedIn: SignedIn,
  connection: SignInConnection,
  shown: FormShown<object>,
) => showFormPage(deps, visit, signedIn, "connections", shown, (view) => startTestPage(view, connection));

async function startTest(deps: ConnectionsDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const connection = await requireProvider(deps, visit);
  const rerender = (shown: Partial<FormShown<object>>) =>
    showForm(deps, visit, signedIn, connection, { input: {}, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  const { id: connectionId } = connection;
  const act = { ...auditContext(visit, signedIn), connectionId };
  const created = await applyOnce(deps, form, (inside) => createConnectionTest(inside, act));
  if (created === "duplicate-submission") {
    const { test: text } = pageMessages(visit, signedIn).console.connections;
    const uri = connectionPages.path(visit.organisation, connectionId, TEST);
    return rerender(duplicateSubmission({ result: { label: text.again, uri } }));
  }
  const frame = await consoleFrame(deps, visit, signedIn, "connections");
  const { test, link } = created;
  const url = `${deps.baseUrl}/oauth/${connection.orgId}/connections/${connectionId}/test?link=${link}`;
  await show(visit, frame, testLinkPage(frame, connection, { test, url }));
}

async function showResult(deps: ConnectionsDeps, visit: Visit): Promise<void> {
  const signedIn = await requireAdministrator(deps, visit);
  const connection = await requireProvider(deps, visit);
  const test = await findTest(deps, visit, connection);
  if (!test) throw new NotFound("test");
  const result = openTestResult(deps.encryption, test);
  const { orgId, id: connectionId } = connection;
  const groups = result?.mapped.groups.length
    ? await listMappableGroups(deps.database.query, { orgId, connectionId })
    : [];
  const groupNames = groups.filter(({ id }) => result?.mapped.groups.includes(id)).map(({ name }) => name);
  const frame = await consoleFrame(deps, visit, signedIn, "connections");
  await show(visit, frame, testResultPage(frame, connection, { test, result, groupNames }));
}
