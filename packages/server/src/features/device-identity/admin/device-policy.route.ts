/** devices/manage/{org}/policy: what is asked of devices, and which TPMs are believed. */
import type { FastifyInstance } from "fastify";
import { attestationPolicies, ekTrustModes } from "../../../core/devices/device.ts";
import type { Organisation, OrganisationSettings } from "../../../core/organisations/organisation.ts";
import { findOrganisation, holdOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { apiHandler } from "../../../http/api/api-route.ts";
import { queryOf } from "../../../http/form-body.ts";
import { lastChangeOf } from "../../../page-kit/actor-names.ts";
import { type EditForm, showEditForm, submitEditForm } from "../../../page-kit/edit-form.ts";
import { devicePolicyPage } from "./device-policy.page.ts";
import { readPolicyOperation, writePolicyOperation } from "./manage-operations.ts";
import { actingFor, forBoth, inside, type ManageDeps, managePath, manageTabs } from "./manage-visit.ts";
import { trustLists } from "./trust-lists.ts";

type Policy = Pick<OrganisationSettings, "deviceAttestation" | "deviceEkTrust">;

export function devicePolicyRoutes(app: FastifyInstance, deps: ManageDeps): void {
  const { door, strictDoor } = deps.programs;
  const form = policyForm(deps);
  forBoth(app, deps, readPolicyOperation, {
    program: apiHandler(door, readPolicyOperation, async ({ caller }) => ({
      status: 200,
      body: recordOf(caller.organisation.settings),
    })),
    page: (_, visit) => showEditForm(deps, visit, form),
  });
  forBoth(app, deps, writePolicyOperation, {
    program: apiHandler(strictDoor, writePolicyOperation, async ({ caller, body, within }) => {
      const { attestation, ekTrust } = body;
      // What is left out is not written: another may be tightening it at this moment.
      const settings = {
        ...(attestation === undefined ? {} : { deviceAttestation: attestation }),
        ...(ekTrust === undefined ? {} : { deviceEkTrust: ekTrust }),
      };
      const changed = await changeOrganisationSettings(inside(deps, within), {
        ...actingFor(caller),
        settings,
      });
      return { status: 200, body: recordOf(changed ?? caller.organisation.settings) };
    }),
    page: (_, visit) => submitEditForm(deps, visit, form),
  });
}

const recordOf = ({ deviceAttestation, deviceEkTrust }: Policy) => ({
  attestation: deviceAttestation,
  ekTrust: deviceEkTrust,
});

const policyForm = (deps: ManageDeps): EditForm<ManageDeps, Organisation, Policy, Policy> => ({
  current: "devices",
  readOnlyAllowed: true,
  // Not the cached one: another node may have changed it a moment ago.
  load: async ({ database }, { organisation }) =>
    (await findOrganisation(database.query, organisation.id)) ?? organisation,
  lock: (tx, { id }) => holdOrganisation(tx, id),
  version: ({ settings }) => recordOf(settings),
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
      isSaved: view.failure === undefined && queryOf(request).values.get("done") === "saved",
      policy: recordOf(view.input),
      ...(await trustLists(deps, organisation.id)),
      lastChange: await lastChangeOf(deps, organisation.id, organisation.id, view.messages),
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
