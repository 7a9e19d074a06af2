/** GET quickstart/{id}: code and settings that make an application run, and a live part that waits for its first sign-in. */
import type { FastifyInstance } from "fastify";
import { type Application, usesSecrets } from "../../../core/applications/application.ts";
import { lastUse } from "../../../core/applications/application-use.store.ts";
import type { SecretUse } from "../../../core/applications/client-secrets.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { setupOf } from "../../../core/stacks/stack.ts";
import { commandsOf } from "../../../core/stacks/stack-commands.ts";
import { type StackName, stackOf, stacks } from "../../../core/stacks/stacks.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { livePieceRoute } from "../../../page-kit/live-piece.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  requireAdministrator,
  requireId,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { applicationPages, findIssuer } from "../applications/application-pages.ts";
import { type CodeSnippet, codeSnippets } from "./code-snippets.ts";
import { envFile } from "./env-file.ts";
import { type GalleryEntry, galleryEntry, isGalleryName } from "./gallery.ts";
import { runningPage } from "./running.page.ts";
import { shellSnippets } from "./shell-snippets.ts";
import { findCallback, requestedScopes, type SnippetSource } from "./snippet-source.ts";
import { type WaitingView, waitingPanel } from "./waiting.page.ts";

export interface RunningDeps extends ConsoleDeps {
  readonly secretUse: Pick<SecretUse, "flush">;
}

export function runningRoutes(app: FastifyInstance, deps: RunningDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/quickstart/:id", { get: showApplication });
  livePieceRoute(app, deps, "/oauth/manage/:org/quickstart/:id/waiting", async (_, visit, messages) =>
    waitingPanel({
      ...(await findFirstUse(deps, visit, await applicationPages.require(deps, visit))),
      messages,
    }),
  );
}

async function showApplication(deps: RunningDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireAdministrator(deps, visit);
  const application = await applicationPages.require(deps, visit);
  const requested = parseQuery(visit.request).values.get("for");
  const name = isGalleryName(requested) ? requested : stackOf(application);
  const entry = name === undefined ? undefined : galleryEntry(name);
  await showRunning(deps, visit, signedIn, application, { entry });
}

/**
 * @param created `secret`: the plaintext, right after it was created; `entry`: the stack or the program that is shown
 */
export async function showRunning(
  deps: RunningDeps,
  visit: Visit,
  signedIn: SignedIn,
  application: Application,
  { secret, entry }: { secret?: string; entry?: GalleryEntry | undefined },
): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "quickstart");
  const source = await snippetSource(deps, visit, application, secret);
  const page = runningPage({
    ...frame,
    ...(await findFirstUse(deps, visit, application)),
    application,
    source,
    ...(entry?.stack === undefined
      ? { sdk: { env: envFile(source), code: chosenCode(source, entry), shell: shellSnippets(source) } }
      : { setup: stackSetup(entry.stack, application, { baseUrl: deps.baseUrl, clientSecret: secret }) }),
    lastChange: await findLastChange(deps, organisation.id, application.id, frame.messages),
  });
  await show(visit, frame, page);
}

const stackSetup = (
  name: StackName,
  application: Application,
  shown: { baseUrl: string; clientSecret: string | undefined },
) => ({
  title: stacks[name].title,
  files: setupOf(stacks[name], application, shown),
  commands: commandsOf(name, findCallback(application).address),
});

/** The program of the entry alone, where the application is of its kind. */
function chosenCode(source: SnippetSource, entry: GalleryEntry | undefined): CodeSnippet[] {
  const code = codeSnippets(source);
  const chosen = code.filter(({ id }) => entry?.stack === undefined && id === entry?.snippet);
  return chosen.length > 0 ? chosen : code;
}

async function findFirstUse(
  deps: RunningDeps,
  { organisation }: Visit,
  application: Application,
): Promise<Omit<WaitingView, "messages">> {
  const kind = kindOf(application);
  // Uses of secrets are buffered, and somebody is waiting for one here.
  if (kind === "service") await deps.secretUse.flush();
  const key = { orgId: organisation.id, applicationId: application.id };
  return {
    use: await lastUse(deps.database.query, key, kind === "service"),
    kind,
    address: findCallback(application).address,
    applicationId: application.id,
    consoleUri: (rest) => consolePath(organisation, rest),
  };
}

async function snippetSource(
  deps: RunningDeps,
  { organisation }: Visit,
  application: Application,
  secret: string | undefined,
): Promise<SnippetSource> {
  const { baseUrl, version } = deps;
  const { id } = application;
  return {
    ...(await findIssuer(deps, application)),
    kind: kindOf(application),
    baseUrl,
    orgId: organisation.id,
    clientId: id,
    hasSecret: usesSecrets(application),
    secret,
    secretUri: `${baseUrl}${applicationPages.path(organisation, id, "/secrets/new")}`,
    callback: findCallback(application),
    scopes: requestedScopes(application),
    idTokenAlg: application.settings.idTokenSignedResponseAlg,
    version,
  };
}
