/**
 * Registers an agent, or adds keys to one: the administrator pastes the agent's output, compares thumbprints and approves.
 * The output contains public keys and proofs of possession, never private keys.
 */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { secretReveal } from "../../../html/components/secret-reveal.ts";
import { wizardPage } from "../../../html/components/wizard.page.ts";
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
import { agentPanel, agentWaitingRoute } from "./agent-waiting.ts";
import {
  AGENTS,
  agentPath,
  type PoolAgent,
  poolCrumbs,
  poolPath,
  requireAgent,
  requirePool,
} from "./pool-path.ts";
import { FOLDER, type RegistrationInput, registerPage, reviewPage } from "./register.page.ts";

/** A new agent of the pool, or an existing one. */
type Place = Pick<PoolAgent, "pool"> & Partial<PoolAgent>;

export function registerRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const handlers = { get: showRegister, post: register };
  consoleRoute(app, deps, "/oauth/manage/:org/pools/:pool/agents/new", handlers);
  consoleRoute(app, deps, "/oauth/manage/:org/pools/:pool/agents/:agent/keys", handlers);
  agentWaitingRoute(app, deps);
}

/** @throws NotFound */
const requirePlace = async (deps: ConsoleDeps, visit: Visit): Promise<Place> =>
  pathParams(visit)["agent"] === undefined
    ? { pool: await requirePool(deps, visit) }
    : requireAgent(deps, visit);

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
  shown: FormShown<RegistrationInput>,
): Promise<void> {
  const view = await registerView(deps, visit, signedIn, place, shown);
  await show(visit, view, registerPage(view), shown.status);
}

/** @param once of an earlier form; a new one by default */
async function registerView(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  place: Place,
  shown: FormShown<RegistrationInput>,
  once?: { once: string },
) {
  const view = await formView(deps, visit, signedIn, "pools", shown, once);
  return {
    ...view,
    ...place,
    breadcrumbs: poolCrumbs(view, place),
    baseUrl: deps.baseUrl,
    version: deps.version,
    backUri: backUri(visit, place),
  };
}

const backUri = ({ organisation }: Visit, { pool, agent }: Place): string =>
  agent ? agentPath(organisation, agent) : poolPath(organisation, pool, AGENTS);

async function register(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const place = await requirePlace(deps, visit);
  const input = {
    name: (values.get("name") ?? "").trim().slice(0, 200),
    registration: (values.get("registration") ?? "").trim().slice(0, MAX_CHARACTERS),
  };
  const rerender = (shown: Partial<FormShown<RegistrationInput>>) =>
    showForm(deps, visit, signedIn, place, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const read = await validate(deps, place, input, messages);
  if ("faults" in read) return rerender({ state: read, status: 400 });
  if (values.get("step") !== "approve") {
    // The first form's token: submitting that form again registers no second agent.
    const once = { once: form.submissionToken.value };
    const view = await registerView(deps, visit, signedIn, place, { input }, once);
    return show(visit, view, reviewPage({ ...view, ...read }));
  }
  try {
    const result = place.agent
      ? await addKeys(deps, visit, form, place.agent, read)
      : await createAgent(deps, visit, form, place.pool, read);
    if (result === "duplicate-submission") return rerender(sentBefore(visit, place, messages));
  } catch (error) {
    if (!(error instanceof CodedError) || error.status === 404) throw error;
    await rerender({ state: { faults: { registration: faultText(error, messages) } }, status: error.status });
  }
}

const sentBefore = (visit: Visit, place: Place, { console: { frame, pools } }: Messages) =>
  duplicateSubmission({
    result: { label: place.agent ? pools.keys : pools.agents, uri: backUri(visit, place) },
    secret: place.agent ? undefined : frame.sentBefore.secret.agent,
  });

interface ValidRegistration {
  readonly name: string;
  readonly presented: readonly PresentedKey[];
  readonly keys: readonly ValidKey[];
}

/** Validates the pasted text like the registration itself. The typed name wins over the agent's. */
async function validate(
  { baseUrl, clock }: ConsoleDeps,
  { pool, agent }: Place,
  input: RegistrationInput,
  messages: Messages,
): Promise<ValidRegistration | { readonly faults: Record<string, string> }> {
  const { faults: text } = messages.console.pools.register;
  const registration = readRegistration(input.registration);
  if (!registration) return { faults: { registration: text.unreadable } };
  if (registration.poolId !== undefined && registration.poolId.toLowerCase() !== pool.id)
    return { faults: { registration: text.otherPool } };
  const { keys: presented } = registration;
  try {
    const keys = await readAgentKeys(presented, { baseUrl, pool, now: clock() });
    if (agent) return { name: agent.name, presented, keys };
    return { name: requireName(input.name || (registration.name ?? "")), presented, keys };
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

async function addKeys(
  deps: ConsoleDeps,
  visit: Visit,
  form: OneTimeForm,
  agent: SigningAgent,
  { presented: keys }: ValidRegistration,
): Promise<"duplicate-submission" | undefined> {
  const by = auditContext(visit, form.signedIn);
  const added = await applyOnce(deps, form, (inside) =>
    addAgentKeys(inside, by, { agentId: agent.id, keys }),
  );
  if (added === "duplicate-submission") return added;
  await redirectTo(visit, agentPath(visit.organisation, agent, "?done=keys"));
  return undefined;
}

async function createAgent(
  deps: ConsoleDeps,
  visit: Visit,
  form: OneTimeForm,
  pool: SigningPool,
  { name, presented: keys }: ValidRegistration,
): Promise<"duplicate-submission" | undefined> {
  const by = auditContext(visit, form.signedIn);
  const created = await applyOnce(deps, form, (inside) =>
    registerAgent(inside, by, { poolId: pool.id, name, keys }),
  );
  if (created === "duplicate-submission") return created;
  const { agent, apiKey } = created;
  const frame = await consoleFrame(deps, visit, form.signedIn, "pools");
  const { register: text } = frame.messages.console.pools;
  const { secret } = frame.messages.console.frame;
  const lines = (id: string, title: string, command: string) =>
    codeBlock({ id, title, lines: command, ...secret });
  const page = wizardPage({
    ...frame,
    breadcrumbs: poolCrumbs(frame, { pool }),
    title: text.doneTitle({ name: agent.name }),
    steps: [
      {
        id: "step-keep",
        title: text.keepTitle,
        body: [
          secretReveal({ id: "api-key", title: text.apiKey, value: apiKey, messages: frame.messages }),
          lines("keep-command", text.keep, `(umask 077 && cat > ${FOLDER}/api-key)`),
        ],
      },
      {
        id: "step-policy",
        title: text.policyTitle,
        text: text.policyText,
        body: lines(
          "policy-command",
          text.command,
          `signet-agent policy check --policy ${FOLDER}/policy.yaml`,
        ),
      },
      {
        id: "step-run",
        title: text.run,
        body: lines("run-command", text.command, `signet-agent run --config ${FOLDER}/agent.yaml`),
      },
    ],
    panel: agentPanel(agent, frame.messages),
    shownOnce: { text: text.doneText, doneUri: poolPath(visit.organisation, pool, AGENTS) },
  });
  await show(visit, frame, page, 201);
  return undefined;
}
