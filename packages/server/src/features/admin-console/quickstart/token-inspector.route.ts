/** quickstart/token-inspector: decodes and verifies a token. It is posted, so that no address and no log has it. */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  requestPath,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import type { JwtDeps } from "./inspect-jwt.ts";
import { inspectToken, MAX_TOKEN_LENGTH, normalizeToken } from "./inspect-token.ts";
import type { Inspection } from "./inspection.ts";
import { inspectorPage } from "./token-inspector.page.ts";

export type InspectorDeps = ConsoleDeps & JwtDeps;

export function tokenInspectorRoute(app: FastifyInstance, deps: InspectorDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/quickstart/token-inspector", {
    get: showInspector,
    post: inspect,
  });
}

async function showInspector(deps: InspectorDeps, visit: Visit): Promise<void> {
  await showPage(deps, visit, await requireAdministrator(deps, visit));
}

interface Shown {
  readonly inspection?: Inspection;
  readonly fault?: "empty" | "tooLong";
  readonly failure?: FormFailure | undefined;
  readonly status?: number;
}

async function showPage(
  deps: InspectorDeps,
  visit: Visit,
  signedIn: SignedIn,
  { inspection, fault, failure, status }: Shown = {},
): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "quickstart");
  const { messages } = frame;
  const page = inspectorPage({
    ...frame,
    breadcrumbs: [
      { label: messages.console.frame.pages.quickstart, uri: consolePath(organisation, "/quickstart") },
    ],
    action: requestPath(visit),
    csrf: deps.browserSession.formBinding(visit).csrf,
    inspection,
    fault: fault && messages.console.quickstart.inspector.faults[fault],
    failure,
  });
  await show(visit, frame, page, status);
}

async function inspect(deps: InspectorDeps, visit: Visit): Promise<void> {
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  if (form.outcome === "rejected") return showPage(deps, visit, signedIn, form.refusal);
  const token = normalizeToken(form.values.get("token") ?? "");
  const fault = token === "" ? "empty" : token.length > MAX_TOKEN_LENGTH ? "tooLong" : undefined;
  if (fault !== undefined) return showPage(deps, visit, signedIn, { fault, status: 400 });
  const inspection = await inspectToken(deps, visit.organisation, token);
  await showPage(deps, visit, signedIn, { inspection });
}
