/**
 * Registers an agent, or adds keys to one: the administrator pastes the agent's output, compares thumbprints and approves.
 * The output contains public keys and proofs of possession, never private keys.
 */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { CodedError } from "../../../http/coded-error.ts";
import {
  acceptOneTimeForm,
  applyOnce,
  duplicateSubmission,
  type OneTimeForm,
} from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  type ConsoleDeps,
  consoleRoute,
  pathParams,
  redirectTo,
  requestPath,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import {
  MAX_CHARACTERS,
  type PresentedKey,
  readAgentKeys,
  readRegistration,
  type ValidKey,
} from "../admin-api/agent-keys.ts";
import { addAgentKeys, registerAgent } from "../admin-api/agents.ts";
import { requireName } from "../admin-api/pools.ts";
import { FOLDER, keysCommand, newAgentCommand } from "./agent-command-lines.ts";
import { agentAt, poolAt, poolCrumbs, poolPath } from "./pool-visit.ts";
import { registerPage, reviewPage, type TypedRegistration } from "./register.page.ts";

/** A new agent of the pool, or an existing one. */
interface Place {
  readonly pool: SigningPool;
  readonly agent?: SigningAgent;
}

export function registerRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/pools/:pool/agents/new", { get: showRegister, post: register });
  consoleRoute(app, deps, "/oauth/manage/:org/pools/:pool/agents/:agent/keys", {
    get: showRegister,
    post: register,
  });
}

/** @throws NotFound */
const requirePlace = async (deps: ConsoleDeps, visit: Visit): Promise<Place> =>
  pathParams(visit)["agent"] === undefined ? { pool: await poolAt(deps, visit) } : agentAt(deps, visit);

async function showRegister(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  const input = { name: "", registration: "" };
  await showForm(deps, visit, signedIn, await requirePlace(deps, visit), { input });
}

async function showForm(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  place: Place,
  shown: FormShown<TypedRegistration>,
): Promise<void> {
  const { pool, agent } = place;
  const view = await formView(deps, visit, signedIn, "pools", shown);
  const page = registerPage({
    ...view,
    typed: view.input,
    breadcrumbs: poolCrumbs(visit, view.messages, pool, agent),
    kind: agent ? "keys" : "agent",
    command: agent ? keysCommand() : newAgentCommand(deps.baseUrl, pool),
    backUri: backUri(visit, place),
  });
  await show(visit, view, page, shown.status);
}

const backUri = (visit: Visit, { pool, agent }: Place): string =>
  poolPath(visit, pool.id, agent ? `/agents/${agent.id}` : "");

async function register(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const place = await requirePlace(deps, visit);
  const input = typedIn(values);
  const rerender = (shown: Partial<FormShown<TypedRegistration>>) =>
    showForm(deps, visit, signedIn, place, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const read = await readTyped(deps, place, input, messages);
  if ("faults" in read) return rerender({ state: read, status: 400 });
  if (values.get("step") !== "approve") return review(deps, visit, form, place, { input, ...read });
  try {
    const result = place.agent
      ? await giveKeys(deps, visit, form, place.agent, read.presented)
      : await createAgent(deps, visit, form, place.pool, { name: read.name, keys: read.presented });
    if (result === "duplicate-submission") return rerender(sentBefore(visit, place, messages));
  } catch (error) {
    if (!(error instanceof CodedError) || error.status === 404) throw error;
    await rerender({ state: { faults: { registration: faultText(error, messages) } }, status: error.status });
  }
}

const sentBefore = (visit: Visit, place: Place, { console: { frame, pools } }: Messages) =>
  duplicateSubmission({
    made: { label: place.agent ? pools.keys : pools.agents, uri: backUri(visit, place) },
    secret: place.agent ? undefined : frame.sentBefore.secret.agent,
  });

const typedIn = (values: ReadonlyMap<string, string>): TypedRegistration => ({
  name: (values.get("name") ?? "").trim().slice(0, 200),
  registration: (values.get("registration") ?? "").trim().slice(0, MAX_CHARACTERS),
});

interface ReadTyped {
  readonly name: string;
  readonly presented: readonly PresentedKey[];
  readonly keys: readonly ValidKey[];
}

/** Validates the pasted text like the registration itself. The typed name wins over the agent's. */
async function readTyped(
  { baseUrl, clock }: ConsoleDeps,
  { pool, agent }: Place,
  typed: TypedRegistration,
  messages: Messages,
): Promise<ReadTyped | { readonly faults: Record<string, string> }> {
  const { faults: text } = messages.console.pools.register;
  const registration = readRegistration(typed.registration);
  if (!registration) return { faults: { registration: text.unreadable } };
  if (registration.poolId !== undefined && registration.poolId.toLowerCase() !== pool.id)
    return { faults: { registration: text.otherPool } };
  const { keys: presented } = registration;
  try {
    const keys = await readAgentKeys(presented, { baseUrl, pool, now: clock() });
    if (agent) return { name: agent.name, presented, keys };
    return { name: requireName(typed.name || (registration.name ?? "")), presented, keys };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    // Only the name is not about a key.
    const isName = error.message.startsWith("name ");
    return { faults: isName ? { name: text.name } : { registration: faultText(error, messages) } };
  }
}

/** A translated message, and the technical one that names the key for the agent's operator. */
function faultText({ code, message }: CodedError, { console: { pools } }: Messages): string {
  const { byCode } = pools.register.faults;
  const known: Readonly<Record<string, string>> = byCode;
  return `${Object.hasOwn(known, code) ? known[code] : byCode.invalid_request} (${message})`;
}

async function review(
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, submissionToken }: OneTimeForm,
  place: Place,
  { input, name, keys }: ReadTyped & { readonly input: TypedRegistration },
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "pools");
  const page = reviewPage({
    ...frame,
    breadcrumbs: poolCrumbs(visit, frame.messages, place.pool, place.agent),
    kind: place.agent ? "keys" : "agent",
    ...{ name, typed: input },
    keys: keys.map(({ kid, alg, x5c }) => ({ kid, alg, certificates: x5c.length })),
    action: requestPath(visit),
    csrf: deps.browserSession.formBinding(visit).csrf,
    // The first form's token: submitting that form again registers no second agent.
    once: submissionToken.value,
    backUri: backUri(visit, place),
  });
  await show(visit, frame, page);
}

async function giveKeys(
  deps: ConsoleDeps,
  visit: Visit,
  form: OneTimeForm,
  agent: SigningAgent,
  keys: readonly PresentedKey[],
): Promise<"duplicate-submission" | undefined> {
  const by = auditContext(visit, form.signedIn);
  const added = await applyOnce(deps, form, (inside) =>
    addAgentKeys(inside, by, { agentId: agent.id, keys }),
  );
  if (added === "duplicate-submission") return added;
  await redirectTo(visit, poolPath(visit, agent.poolId, `/agents/${agent.id}?done=keys`));
  return undefined;
}

async function createAgent(
  deps: ConsoleDeps,
  visit: Visit,
  form: OneTimeForm,
  pool: SigningPool,
  input: { name: string; keys: readonly PresentedKey[] },
): Promise<"duplicate-submission" | undefined> {
  const by = auditContext(visit, form.signedIn);
  const created = await applyOnce(deps, form, (inside) =>
    registerAgent(inside, by, { poolId: pool.id, ...input }),
  );
  if (created === "duplicate-submission") return created;
  const { agent, apiKey } = created;
  const frame = await consoleFrame(deps, visit, form.signedIn, "pools");
  const { register: text } = frame.messages.console.pools;
  const page = shownOncePage({
    ...frame,
    breadcrumbs: poolCrumbs(visit, frame.messages, pool),
    title: text.doneTitle({ name: agent.name }),
    text: text.doneText,
    values: [
      { id: "api-key", title: text.apiKey, lines: apiKey },
      { id: "keep-command", title: text.keep, lines: `(umask 077 && cat > ${FOLDER}/api-key)` },
      { id: "run-command", title: text.run, lines: `signet-agent run --config ${FOLDER}/agent.yaml` },
    ],
    doneUri: poolPath(visit, pool.id),
  });
  await show(visit, frame, page, 201);
  return undefined;
}
