/** quickstart/token-inspector: what a token is, says and is worth. It comes by POST, so that no address and no log has it. */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { submission } from "../../../page-kit/submission.ts";
import {
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { applicationPath } from "../applications/application-visit.ts";
import type { JwtDeps } from "./inspect-jwt.ts";
import { inspectToken, LONGEST_TOKEN, tidied } from "./inspect-token.ts";
import type { Inspection } from "./inspection.ts";
import { inspectorPage } from "./token-inspector.page.ts";

export type InspectorDeps = ConsoleDeps & JwtDeps;

const REST = "/quickstart/token-inspector";

export function tokenInspectorRoute(app: FastifyInstance, deps: InspectorDeps): void {
  consoleRoute(app, deps, REST, {
    get: async (visit) => {
      const signedIn = await administratorHere(deps, visit, consolePath(visit.organisation, REST));
      if (signedIn) await showPage(deps, visit, signedIn, {});
    },
    post: (visit) => look(deps, visit),
  });
}

interface Shown {
  readonly inspection?: Inspection;
  readonly fault?: "empty" | "tooLong";
  readonly failure?: FormFailure;
  readonly status?: number;
}

async function showPage(
  deps: InspectorDeps,
  visit: Visit,
  signedIn: SignedIn,
  { inspection, fault, failure, status = 200 }: Shown,
): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "quickstart");
  const { messages } = frame;
  const page = inspectorPage({
    ...frame,
    breadcrumbs: [
      { label: messages.console.frame.pages.quickstart, uri: consolePath(organisation, "/quickstart") },
    ],
    action: consolePath(organisation, REST),
    csrf: deps.door.formBinding(visit).csrf,
    inspection,
    fault: fault && messages.console.quickstart.inspector.faults[fault],
    failure,
    applicationUri: (id) => applicationPath(organisation, id),
    userUri: (id) => consolePath(organisation, `/users/${id}`),
  });
  await show(visit, frame, page, status);
}

async function look(deps: InspectorDeps, visit: Visit): Promise<void> {
  const path = consolePath(visit.organisation, REST);
  const sent = await submission(deps, visit, path, ({ signedIn }, kind) =>
    showPage(deps, visit, signedIn, { failure: { kind }, status: 403 }),
  );
  if (!sent) return;
  const token = tidied(sent.values.get("token") ?? "");
  const fault = token === "" ? "empty" : token.length > LONGEST_TOKEN ? "tooLong" : undefined;
  if (fault !== undefined) return showPage(deps, visit, sent.signedIn, { fault, status: 400 });
  const inspection = await inspectToken(deps, visit.organisation, token);
  await showPage(deps, visit, sent.signedIn, { inspection });
}
