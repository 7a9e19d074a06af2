/** client-policy: which clients are taken that nobody has registered by hand, and those that came (modern-oauth.md §5, "CIMD"). */
import type { FastifyInstance } from "fastify";
import { setClientPolicy } from "../../../core/client-metadata/client-policies.ts";
import { findClientPolicy } from "../../../core/client-metadata/client-policy.store.ts";
import {
  agentConstraints,
  type ClientPolicy,
  type ClientPolicyContent,
  InvalidPolicy,
  MAX_ALLOWED,
  MAX_HOSTS,
  MAX_RESOURCES,
  policyModes,
} from "../../../core/client-metadata/client-policy.ts";
import { listDocumentClients } from "../../../core/client-metadata/document-clients.store.ts";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { parseQuery } from "../../../http/form-body.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { faultsByField, wordsOf } from "../plain-records/plain-record.ts";
import { type ClientPolicyInput, clientPolicyPage } from "./client-policy.page.ts";

export const clientPolicyRoute = (app: FastifyInstance, deps: ConsoleDeps): void =>
  editRoute(app, deps, "/oauth/manage/:org/client-policy", form(deps));

type Stored = ClientPolicy & { readonly id: string };

const MAX_CLIENTS = 100;

const form = (deps: ConsoleDeps): EditForm<ConsoleDeps, Stored, ClientPolicyInput, ClientPolicyContent> => ({
  current: "clientPolicy",
  readOnlyAllowed: true,
  load: async ({ database }, { organisation: { id } }) => ({
    ...(await findClientPolicy(database.query, id)),
    id,
  }),
  lock: (tx, { orgId }) => lockOrganisation(tx, orgId),
  version: ({ version }) => version,
  toInput: ({ mode, hosts, allowedScopes, allowedResources, senderConstraint }) => ({
    ...{ mode, senderConstraint, allowedScopes },
    ...{ hosts: hosts.join("\n"), allowedResources: allowedResources.join("\n") },
  }),
  readInput,
  toDisplay: (input, { messages: { console } }) => ({
    mode: textOf(console.clientPolicy.modes, input.mode),
    ...{ hosts: input.hosts, allowedResources: input.allowedResources },
    ...{ allowedScopes: input.allowedScopes.join(" ") },
    senderConstraint: textOf(console.clientPolicy.constraints, input.senderConstraint),
  }),
  page: async (view, { record: { orgId }, visit }) => {
    const clients = await listDocumentClients(deps.database.query, orgId, MAX_CLIENTS);
    const scopes = await listCustomScopes(deps.database.query, orgId);
    const isSaved = parseQuery(visit.request).values.get("done") === "saved";
    return clientPolicyPage({ ...view, clients, scopes, isSaved });
  },
  validate: (input, { messages: { console } }) => {
    const { faults: texts } = console.clientPolicy;
    const mode = policyModes.find((one) => one === input.mode);
    const senderConstraint = agentConstraints.find((one) => one === input.senderConstraint);
    const hosts = wordsOf(input.hosts.toLowerCase());
    const allowedResources = wordsOf(input.allowedResources);
    const faults = {
      ...(mode === undefined && { mode: texts.mode }),
      ...(senderConstraint === undefined && { senderConstraint: texts.senderConstraint }),
      ...(hosts.length > MAX_HOSTS && { hosts: texts.hosts }),
      ...(input.allowedScopes.length > MAX_ALLOWED && { allowedScopes: texts.allowedScopes }),
      ...(allowedResources.length > MAX_RESOURCES && { allowedResources: texts.allowedResources }),
    };
    return mode === undefined || senderConstraint === undefined || Object.keys(faults).length > 0
      ? { faults }
      : { content: { mode, senderConstraint, hosts, allowedResources, allowedScopes: input.allowedScopes } };
  },
  save: async (inside, content, { visit: { organisation }, acting }) => {
    await setClientPolicy(inside, { ...acting, content });
    return consolePath(organisation, "/client-policy?done=saved");
  },
  explain: (error, { messages: { console } }) =>
    error instanceof InvalidPolicy
      ? { faults: faultsByField(error.faults, console.clientPolicy.faults) }
      : undefined,
});

const textOf = (texts: Readonly<Record<string, string>>, value: string): string => texts[value] ?? value;

function readInput({ values, all }: SentForm): ClientPolicyInput {
  const text = (id: string, max: number) => (values.get(id) ?? "").trim().slice(0, max);
  return {
    ...{ mode: text("mode", 20), senderConstraint: text("senderConstraint", 20) },
    ...{ hosts: text("hosts", 40_000), allowedResources: text("allowedResources", 40_000) },
    allowedScopes: all("allowedScopes"),
  };
}
