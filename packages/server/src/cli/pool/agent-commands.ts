/** `signet agent …`: the programs of the organisation that hold its signing keys. */
import { readFileSync, statSync } from "node:fs";
import type { SigningAgent } from "../../core/signing-pools/agent-key.ts";
import { findAgent, listAgents } from "../../core/signing-pools/signing-agent.store.ts";
import type { PresentedKey } from "../../features/sovereign/admin-api/agent-keys.ts";
import { addAgentKeys, deactivateAgent, registerAgent } from "../../features/sovereign/admin-api/agents.ts";
import { readRegistration } from "../../features/sovereign/admin-api/registration-text.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, answerList, fields, limitOption, timeOrNull } from "../answer.ts";
import {
  type Call,
  type Command,
  jsonOption,
  type Options,
  optionalText,
  orgOption,
  requiredText,
  UsageError,
} from "../command.ts";
import { commandsOn } from "../on-record.ts";
import { reasonOf } from "../reason.ts";
import { OPERATOR, organisationOf, readAll, withService } from "../with-service.ts";
import { adminDeps } from "./pool-commands.ts";
import { agentKeyRecord, agentKeyTable, agentRecord, agentState } from "./pool-record.ts";

const keysOption: Options = {
  keys: {
    type: "string",
    value: "FILE",
    help: "its public keys with the proof that it has the private ones: a list of {jwk, x5c, pop}, as the agent writes it",
    required: true,
  },
};

const agentRegister: Command = {
  name: "agent register",
  summary: "register an agent in a pool; its API key is shown once",
  usage: "--org ID --pool ID --name NAME --keys FILE [--json]",
  options: {
    ...orgOption,
    pool: { type: "string", value: "ID", help: "the pool", required: true },
    name: { type: "string", value: "NAME", help: "up to 100 characters", required: true },
    ...keysOption,
    ...jsonOption,
  },
  examples: ["signet agent register --org 01998d6e-… --pool 01998d70-… --name agent-1 --keys agent-1.json"],
  run: (call) =>
    withService(call, async (service) => {
      const { values } = call;
      const { id: orgId } = await organisationOf(service, values);
      const { agent, apiKey, keys } = await registerAgent(
        adminDeps(service),
        { orgId, actor: OPERATOR },
        {
          poolId: requiredText(values, "pool").toLowerCase(),
          name: requiredText(values, "name"),
          keys: readKeys(requiredText(values, "keys")),
        },
      );
      const now = service.clock();
      const record = { ...agentRecord(agent), apiKey, keys: keys.map((key) => agentKeyRecord(key, now)) };
      return answer(call, record, () => [
        ...fields({ agentId: agent.id, poolId: agent.poolId, apiKey }),
        "",
        ...agentKeyTable(keys, now),
        "",
        "The API key is not shown again.",
      ]);
    }),
};

const agentList: Command = {
  name: "agent list",
  summary: "list the organisation's signing agents, those that were deactivated too",
  usage: "--org ID [--pool ID] [--limit COUNT] [--json]",
  options: {
    ...orgOption,
    pool: { type: "string", value: "ID", help: "the agents of this pool alone" },
    ...limitOption,
    ...jsonOption,
  },
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const poolId = optionalText(call.values, "pool")?.toLowerCase();
      const list = await readAll(call.values, (page) =>
        listAgents(service.database.query, orgId, { ...page, ...(poolId === undefined ? {} : { poolId }) }),
      );
      return answerList(call, list, {
        record: agentRecord,
        headings: ["ID", "NAME", "POOL", "STATE", "LAST SEEN"],
        row: (agent) => [
          agent.id,
          agent.name,
          agent.poolId,
          agentState(agent),
          timeOrNull(agent.lastSeenAt) ?? "never",
        ],
        none: "There are no signing agents yet: signet agent register --org … --pool … --name … --keys FILE",
      });
    }),
};

const onAgent = commandsOn("agent", async (service, organisation, { positionals: [id] }) => {
  if (id === undefined) throw new UsageError("name the agent by its ID");
  const agent = await findAgent(service.database.query, organisation.id, id.toLowerCase());
  if (!agent) throw new Error(`there is no signing agent "${id}" in this organisation`);
  return agent;
});

const agentAddKey = onAgent(
  "add-key",
  "give an agent new keys; its keys of the same algorithm retire when these begin to sign",
  async (service, call, { orgId, id: agentId }) => {
    const presented = readKeys(requiredText(call.values, "keys"));
    const by = { orgId, actor: OPERATOR };
    const keys = await addAgentKeys(adminDeps(service), by, { agentId, keys: presented });
    const now = service.clock();
    const record = { agentId, keys: keys.map((key) => agentKeyRecord(key, now)) };
    return answer(call, record, () => agentKeyTable(keys, now));
  },
  { usage: "--keys FILE ", options: keysOption },
);

const agentDeactivate = onAgent(
  "deactivate",
  "end an agent: its API key is dead at once, what it has signed stays valid",
  (service, call, agent) => end(service, call, agent, false),
);

const agentCompromise = onAgent(
  "compromise",
  "end an agent whose keys others may know: they leave the JWKS at once, and all that they signed is void",
  (service, call, agent) => end(service, call, agent, true),
);

async function end(
  service: Service,
  call: Call,
  { orgId, id: agentId, name }: SigningAgent,
  compromised: boolean,
): Promise<number> {
  await deactivateAgent(adminDeps(service), { orgId, actor: OPERATOR }, { agentId, compromised });
  const after = await findAgent(service.database.query, orgId, agentId);
  return answer(call, after ? agentRecord(after) : { agentId }, () => [
    compromised
      ? `"${name}" is compromised: its keys are gone from the JWKS. Who has read it before may keep it for five minutes.`
      : `"${name}" is deactivated. What it has signed stays valid until it expires.`,
  ]);
}

const MAX_BYTES = 256 * 1024;

/** @throws Error naming the file; what the keys must be is the feature's to say */
function readKeys(path: string): readonly PresentedKey[] {
  let text: string;
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error("it is larger than 256 KiB");
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`--keys ${path}: ${reasonOf(error)}`);
  }
  const registration = readRegistration(text);
  if (!registration)
    throw new Error(`--keys ${path}: it must hold keys of the form {"jwk": …, "x5c": […], "pop": "…"}`);
  return registration.keys;
}

export const agentCommands: readonly Command[] = [
  agentRegister,
  agentList,
  agentAddKey,
  agentDeactivate,
  agentCompromise,
];
