/**
 * quickstart/token-inspector: decodes and verifies a token. It is posted, so that no address and no log has it; it is not
 * stored and not used.
 */
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import {
  type ConsoleDeps,
  consoleRoute,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { inspectJwt, type JwtDeps } from "./inspect-jwt.ts";
import { inspectSecret } from "./inspect-secret.ts";
import { bad, type Inspection } from "./inspection.ts";
import { inspectorPage } from "./token-inspector.page.ts";

export type InspectorDeps = ConsoleDeps & JwtDeps;

export function tokenInspectorRoute(app: FastifyInstance, deps: InspectorDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/quickstart/token-inspector", {
    get: showInspector,
    post: inspect,
  });
}

async function showInspector(deps: InspectorDeps, visit: Visit): Promise<void> {
  const signedIn = await requireAdministrator(deps, visit);
  await showForm(deps, visit, signedIn, { input: undefined });
}

/** A pasted token is never shown again. */
type Shown = FormShown<undefined> & { readonly inspection?: Inspection };

async function showForm(
  deps: InspectorDeps,
  visit: Visit,
  signedIn: SignedIn,
  { inspection, ...shown }: Shown,
): Promise<void> {
  const view = await formView(deps, visit, signedIn, "tokenInspector", shown, {});
  await show(visit, view, inspectorPage(view, inspection), shown.status);
}

async function inspect(deps: InspectorDeps, visit: Visit): Promise<void> {
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const rerender = (shown: Omit<Shown, "input">) =>
    showForm(deps, visit, signedIn, { input: undefined, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  const token = normalizeToken(form.values.get("token") ?? "");
  const { faults } = pageMessages(visit, signedIn).console.quickstart.inspector;
  if (token === "") return rerender({ state: { faults: { token: faults.empty } }, status: 400 });
  if (token.length > MAX_TOKEN_LENGTH)
    return rerender({ state: { faults: { token: faults.tooLong } }, status: 400 });
  await rerender({ inspection: await inspectToken(deps, visit.organisation, token) });
}

const MAX_TOKEN_LENGTH = 16_384;

/** Removes line breaks and the name of the header. */
const normalizeToken = (pasted: string): string =>
  pasted
    .trim()
    .replace(/^(?:authorization:\s*)?bearer\s+/i, "")
    .replaceAll(/\s+/g, "");

async function inspectToken(deps: JwtDeps, organisation: Organisation, token: string): Promise<Inspection> {
  const secret = await inspectSecret(deps, organisation.id, token);
  if (secret) return secret;
  const decoded = decodeJwsUnverified(token);
  if (decoded) return inspectJwt(deps, organisation, token, decoded);
  const isUnsigned = token.split(".").length === 3 && token.endsWith(".");
  return { kind: "unknown", findings: [bad(isUnsigned ? "unsigned" : "noToken")] };
}
