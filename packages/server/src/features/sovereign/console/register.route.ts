/**
 * Registering an agent, and giving one new keys: what it has printed is pasted, its keys are shown by their thumbprints, and
 * approved. Private keys never come here; what is pasted proves that the agent has them.
 */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import type { FormState } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { copyScript } from "../../../html/scripts.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { type Making, making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import {
  actingOn,
  type ConsoleDeps,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { type PresentedKey, type ReadKey, readAgentKeys } from "../admin-api/agent-keys.ts";
import { addAgentKeys, registerAgent } from "../admin-api/agents.ts";
import { requireName } from "../admin-api/pools.ts";
import { MOST_CHARACTERS, readRegistration } from "../admin-api/registration-text.ts";
import { FOLDER, keysCommand, newAgentCommand } from "./agent-command-lines.ts";
import { agentAt, paramsOf, poolAt, poolCrumbs, poolPath } from "./pool-visit.ts";
import { registerPage, reviewPage, type TypedRegistration } from "./register.page.ts";

/** Where keys go: to a new agent of the pool, or to one that is there. */
interface Place {
  readonly pool: SigningPool;
  readonly agent?: SigningAgent;
}

export function registerRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const routes = {
    "/pools/:pool/agents/new": async (visit: Visit) => ({ pool: await poolAt(deps, visit) }),
    "/pools/:pool/agents/:agent/keys": (visit: Visit) => agentAt(deps, visit),
  } satisfies Record<string, (visit: Visit) => Promise<Place>>;
  for (const [path, placeOf] of Object.entries(routes))
    consoleRoute(app, deps, path, {
      get: async (visit) => {
        const signedIn = await provenAdministrator(deps, visit, ownPath(visit));
        if (!signedIn) return;
        const typed = { name: "", registration: "" };
        await form(deps, visit, { signedIn, place: await placeOf(visit), typed });
      },
      post: (visit) => register(deps, visit, placeOf),
    });
}

const ownPath = (visit: Visit): string => {
  const { pool = "", agent } = paramsOf(visit);
  const rest = agent === undefined ? "/agents/new" : `/agents/${encodeURIComponent(agent)}/keys`;
  return poolPath(visit, pool, rest);
};

interface FormShown {
  readonly signedIn: SignedIn;
  readonly place: Place;
  readonly typed: TypedRegistration;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  readonly status?: number;
}

async function form(deps: ConsoleDeps, visit: Visit, shown: FormShown): Promise<void> {
  const { signedIn, typed, state = {}, failure, status } = shown;
  const { pool, agent } = shown.place;
  const frame = await consoleFrame(deps, visit, signedIn, "pools");
  const page = registerPage({
    ...frame,
    breadcrumbs: poolCrumbs(visit, frame.messages, pool, agent),
    kind: agent ? "keys" : "agent",
    command: agent ? keysCommand() : newAgentCommand(deps.baseUrl, pool),
    ...{ typed, state, failure },
    action: ownPath(visit),
    csrf: deps.door.formBinding(visit).csrf,
    once: newOnce(deps),
    backUri: backUri(visit, shown.place),
    script: copyScript.path,
  });
  await show(visit, frame, page, status);
}

const backUri = (visit: Visit, { pool, agent }: Place): string =>
  poolPath(visit, pool.id, agent ? `/agents/${agent.id}` : "");

async function register(
  deps: ConsoleDeps,
  visit: Visit,
  placeOf: (visit: Visit) => Promise<Place>,
): Promise<void> {
  const again = async ({ signedIn, values }: Submission, refusal: Refusal) =>
    form(deps, visit, { signedIn, place: await placeOf(visit), typed: typedIn(values), ...refusal });
  const { pool, agent: agentId } = paramsOf(visit);
  const sent = await making(deps, visit, ownPath(visit), again, ({ console: { frame, pools } }) => ({
    made: {
      label: agentId === undefined ? pools.agents : pools.keys,
      uri: poolPath(visit, pool ?? "", agentId === undefined ? "" : `/agents/${encodeURIComponent(agentId)}`),
    },
    secret: agentId === undefined ? frame.sentBefore.secret.agent : undefined,
  }));
  if (!sent) return;
  const { signedIn, values } = sent;
  const place = await placeOf(visit);
  const typed = typedIn(values);
  const { messages } = await consoleFrame(deps, visit, signedIn, "pools");
  const read = await readTyped(deps, place, typed, messages);
  const shown = { signedIn, place, typed };
  if ("faults" in read) return form(deps, visit, { ...shown, state: read, status: 400 });
  if (values.get("step") !== "approve")
    return review(deps, visit, { ...shown, ...read, once: sent.onceValue });
  try {
    if (place.agent) await giveKeys(deps, visit, sent, { place, keys: read.presented });
    else await makeAgent(deps, visit, sent, { place, name: read.name, keys: read.presented });
  } catch (error) {
    if (!(error instanceof CodedError) || error.status === 404) throw error;
    const faults = { registration: faultText(error, messages) };
    await form(deps, visit, { ...shown, state: { faults }, status: error.status });
  }
}

const typedIn = (values: ReadonlyMap<string, string>): TypedRegistration => ({
  name: (values.get("name") ?? "").trim().slice(0, 200),
  registration: (values.get("registration") ?? "").trim().slice(0, MOST_CHARACTERS),
});

interface ReadTyped {
  readonly name: string;
  readonly presented: readonly PresentedKey[];
  readonly keys: readonly ReadKey[];
}

/** What was pasted, looked at as the registration itself will do. The name is what was typed, else the agent's own. */
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
    // Of all that is looked at, the name alone is no key.
    const isName = error.message.startsWith("name ");
    return { faults: isName ? { name: text.name } : { registration: faultText(error, messages) } };
  }
}

/** In the reader's words, and in those that name the key: they are for whoever runs the agent. */
function faultText({ code, message }: CodedError, { console: { pools } }: Messages): string {
  const { byCode } = pools.register.faults;
  const known: Readonly<Record<string, string>> = byCode;
  return `${Object.hasOwn(known, code) ? known[code] : byCode.invalid_request} (${message})`;
}

async function review(
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, place, typed, name, keys, once }: FormShown & ReadTyped & { readonly once: string },
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "pools");
  const page = reviewPage({
    ...frame,
    breadcrumbs: poolCrumbs(visit, frame.messages, place.pool, place.agent),
    kind: place.agent ? "keys" : "agent",
    ...{ name, typed },
    keys: keys.map(({ kid, alg, x5c }) => ({ kid, alg, certificates: x5c.length })),
    action: ownPath(visit),
    csrf: deps.door.formBinding(visit).csrf,
    // Of the form before it: to go back to that one makes no other agent either.
    once,
    backUri: backUri(visit, place),
  });
  await show(visit, frame, page);
}

async function giveKeys(
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, once }: Making,
  { place, keys }: { place: Place; keys: readonly PresentedKey[] },
): Promise<void> {
  const { pool, agent } = place;
  const agentId = agent?.id ?? "";
  const by = actingOn(visit, signedIn);
  const added = await once((database) => addAgentKeys({ ...deps, database }, by, { agentId, keys }));
  if (added) await goTo(visit, poolPath(visit, pool.id, `/agents/${agentId}?done=keys`));
}

async function makeAgent(
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, once }: Making,
  { place, ...input }: { place: Place; name: string; keys: readonly PresentedKey[] },
): Promise<void> {
  const { pool } = place;
  const by = actingOn(visit, signedIn);
  const made = await once((database) =>
    registerAgent({ ...deps, database }, by, { poolId: pool.id, ...input }),
  );
  if (!made) return;
  const { agent, apiKey } = made;
  const frame = await consoleFrame(deps, visit, signedIn, "pools");
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
    script: copyScript.path,
  });
  await show(visit, frame, page, 201);
}
