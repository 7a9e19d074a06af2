/** The attestation policy, as a page and as an API. */
import type { FastifyInstance } from "fastify";
import { attestationPolicies, ekTrustModes } from "../../../core/devices/device.ts";
import type { Organisation, OrganisationSettings } from "../../../core/organisations/organisation.ts";
import { findOrganisation, lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { apiHandler } from "../../../http/api/api-route.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { type EditForm, showEditForm, submitEditForm } from "../../../page-kit/edit-form.ts";
import { devicePolicyPage } from "./device-policy.page.ts";
import { readPolicyOperation, writePolicyOperation } from "./manage-operations.ts";
import {
  actingFor,
  inTransaction,
  type ManageDeps,
  managePath,
  manageTabs,
  pageAndApiRoute,
} from "./manage-visit.ts";
import { trustLists } from "./trust-lists.ts";

type Policy = Pick<OrganisationSettings, "deviceAttestation" | "deviceEkTrust">;

export function devicePolicyRoutes(app: FastifyInstance, deps: ManageDeps): void {
  const { authenticator, strictAuthenticator } = deps.programs;
  const form = policyForm(deps);
  pageAndApiRoute(app, deps, readPolicyOperation, {
    program: apiHandler(authenticator, readPolicyOperation, async ({ caller }) => ({
      status: 200,
      body: policyRecord(caller.organisation.settings),
    })),
    page: (_, visit) => showEditForm(deps, visit, form),
  });
  pageAndApiRoute(app, deps, writePolicyOperation, {
    program: apiHandler(strictAuthenticator, writePolicyOperation, async ({ caller, body, within }) => {
      const { attestation, ekTrust } = body;
      // Absent members are not written: another administrator may be changing them.
      const settings = {
        ...(attestation === undefined ? {} : { deviceAttestation: attestation }),
        ...(ekTrust === undefined ? {} : { deviceEkTrust: ekTrust }),
      };
      const changed = await changeOrganisationSettings(inTransaction(deps, within), {
        ...actingFor(caller),
        settings,
      });
      return { status: 200, body: policyRecord(changed ?? caller.organisation.settings) };
    }),
    page: (_, visit) => submitEditForm(deps, visit, form),
  });
}

const policyRecord = ({ deviceAttestation, deviceEkTrust }: Policy) => ({
  attestation: deviceAttestation,
  ekTrust: deviceEkTrust,
});

const policyForm = (deps: ManageDeps): EditForm<ManageDeps, Organisation, Policy, Policy> => ({
  current: "devices",
  readOnlyAllowed: true,
  // Not from the cache: another node may have just changed it.
  load: async ({ database }, { organisation }) =>
    (await findOrganisation(database.query, organisation.id)) ?? organisation,
  lock: (tx, { id }) => lockOrganisation(tx, id),
  version: ({ settings }) => policyRecord(settings),
  toInput: ({ settings: { deviceAttestation, deviceEkTrust } }) => ({ deviceAttestation, deviceEkTrust }),
  readInput: ({ values }, { record: { settings } }) => ({
    deviceAttestation:
      attestationPolicies.find((one) => one === values.get("attestation")) ?? settings.deviceAttestation,
    deviceEkTrust: ekTrustModes.find((one) => one === values.get("ekTrust")) ?? settings.deviceEkTrust,
  }),
  toDisplay: (policy, { messages }) => inWords(policy, messages),
  page: async (view, { visit: { organisation, request } }) =>
    devicePolicyPage({
      ...view,
      tabs: manageTabs(organisation, "policy", view.messages),
      isSaved: view.failure === undefined && parseQuery(request).values.get("done") === "saved",
      policy: policyRecord(view.input),
      ...(await trustLists(deps, organisation.id)),
      lastChange: await findLastChange(deps, organisation.id, organisation.id, view.messages),
    }),
  validate: (policy) => ({ content: policy }),
  save: async (within, settings, { visit: { organisation }, acting }) => {
    await changeOrganisationSettings(within, { ...acting, settings });
    return managePath(organisation, "/policy?done=saved");
  },
});

const inWords = (policy: Policy, { devices: { policy: text } }: Messages): Record<string, string> => ({
  attestation: text.attestations[policy.deviceAttestation].label,
  ekTrust: text.ekTrusts[policy.deviceEkTrust].label,
});
