/** GET quickstart/{applicationId}: what makes an application run; and the piece of it that waits for the first sign-in. */
import type { FastifyInstance } from "fastify";
import { type Application, usesSecrets } from "../../../core/applications/application.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import type { SecretUse } from "../../../core/applications/secret-use.ts";
import { newestUse } from "../../../core/applications/use/first-use.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { issuerOfPool } from "../../../core/signing-pools/signing-pool.ts";
import { findPool } from "../../../core/signing-pools/signing-pools.store.ts";
import { copyScript, liveScript } from "../../../html/scripts.ts";
import { lastChangeOf } from "../../../page-kit/actor-names.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { livePieceRoute } from "../../../page-kit/live-piece.ts";
import {
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { applicationHere, applicationPath, idIn } from "../applications/application-visit.ts";
import { codeSnippets } from "./code-snippets.ts";
import { envFile } from "./env-file.ts";
import { runningPage } from "./running.page.ts";
import { shellSnippets } from "./shell-snippets.ts";
import { callbackOf, type SnippetSource, scopesOf } from "./snippet-source.ts";
import { type WaitingView, waitingCard } from "./waiting.page.ts";

export interface RunningDeps extends ConsoleDeps {
  readonly secretUse: Pick<SecretUse, "flush">;
  /** Of the client SDK that goes with this server. */
  readonly version: string;
}

export function runningRoutes(app: FastifyInstance, deps: RunningDeps): void {
  consoleRoute(app, deps, "/quickstart/:id", {
    get: async (visit) => {
      const path = consolePath(visit.organisation, `/quickstart/${idIn(visit)}`);
      const signedIn = await administratorHere(deps, visit, path);
      if (signedIn) await showRunning(deps, visit, signedIn, await applicationHere(deps, visit));
    },
  });
  livePieceRoute(app, deps, "/quickstart/:id/waiting", async (visit, messages) =>
    waitingCard({ ...(await waitingFor(deps, visit, await applicationHere(deps, visit))), messages }),
  );
}

/** @param secret the plaintext, on the page that has just made it */
export async function showRunning(
  deps: RunningDeps,
  visit: Visit,
  signedIn: SignedIn,
  application: Application,
  secret?: string,
): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "quickstart");
  const source = await sourceOf(deps, visit, application, secret);
  const page = runningPage({
    ...frame,
    ...(await waitingFor(deps, visit, application)),
    breadcrumbs: [
      { label: frame.messages.console.frame.pages.quickstart, uri: consolePath(organisation, "/quickstart") },
    ],
    application,
    source,
    env: envFile(source),
    code: codeSnippets(source),
    shell: shellSnippets(source),
    recordUri: applicationPath(organisation, application.id),
    settingsUri: applicationPath(organisation, application.id, "/settings#card-addresses-title"),
    lastChange: await lastChangeOf(deps, organisation.id, application.id, frame.messages),
    scripts: [copyScript.path, liveScript.path],
  });
  await show(visit, frame, page);
}

async function waitingFor(
  deps: RunningDeps,
  { organisation }: Visit,
  application: Application,
): Promise<Omit<WaitingView, "messages">> {
  const kind = kindOf(application);
  // A secret's use is written some time later: somebody is waiting for it here.
  if (kind === "service") await deps.secretUse.flush();
  const of = { orgId: organisation.id, applicationId: application.id };
  return {
    use: await newestUse(deps.database.query, of, kind === "service"),
    kind,
    address: callbackOf(application).address,
    liveUri: consolePath(organisation, `/quickstart/${application.id}/waiting`),
    ownUri: consolePath(organisation, `/quickstart/${application.id}`),
    inspectorUri: consolePath(organisation, "/quickstart/token-inspector"),
    userUri: (id) => consolePath(organisation, `/users/${id}`),
  };
}

async function sourceOf(
  { database, baseUrl, version }: RunningDeps,
  { organisation }: Visit,
  application: Application,
  secret: string | undefined,
): Promise<SnippetSource> {
  const { id, settings } = application;
  const { signingPoolId } = settings;
  const pool =
    signingPoolId === undefined ? undefined : await findPool(database.query, organisation.id, signingPoolId);
  return {
    kind: kindOf(application),
    baseUrl,
    issuer: pool ? issuerOfPool(baseUrl, pool) : issuerOf(baseUrl, organisation.id),
    orgId: organisation.id,
    clientId: id,
    hasSecret: usesSecrets(application),
    secret,
    secretUri: `${baseUrl}${applicationPath(organisation, id, "/secrets/new")}`,
    callback: callbackOf(application),
    scopes: scopesOf(application),
    pool,
    sdkVersion: version,
  };
}
