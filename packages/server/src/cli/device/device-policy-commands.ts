/** `signet device-policy …`: what an organisation asks of its devices, and what makes a TPM believed. */
import { attestationPolicies, ekTrustModes } from "../../core/devices/device.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../core/organisations/organisations.ts";
import { answer, fields } from "../answer.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  optionalText,
  orgOption,
  UsageError,
} from "../command.ts";
import { OPERATOR, organisationOf, withService } from "../with-service.ts";

const policyShow: Command = {
  name: "device-policy show",
  summary: "show what the organisation asks of its devices",
  usage: "--org ID [--json]",
  options: { ...orgOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => answerWith(call, await organisationOf(service, call.values))),
};

const policySet: Command = {
  name: "device-policy set",
  summary: "say whether devices need a TPM, and what makes one believed; devices that are enrolled stay",
  usage: "--org ID [--attestation POLICY] [--ek-trust MODE] [--json]",
  options: {
    ...orgOption,
    attestation: {
      type: "string",
      value: "POLICY",
      help: "none: without a TPM; optional: either way; required: with one alone. A code can only ask for more",
    },
    "ek-trust": {
      type: "string",
      value: "MODE",
      help: "chain: the vendor's certificate leads to an imported root; allowlist: the key is on the list; both",
    },
    ...jsonOption,
  },
  examples: ["signet device-policy set --org 01998d6e-… --attestation required --ek-trust both"],
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const attestation = optionalText(call.values, "attestation");
      const ekTrust = optionalText(call.values, "ek-trust");
      if (attestation === undefined && ekTrust === undefined)
        throw new UsageError("give --attestation, --ek-trust or both");
      const settings = {
        ...(attestation === undefined
          ? {}
          : { deviceAttestation: choice("attestation", attestation, attestationPolicies) }),
        ...(ekTrust === undefined ? {} : { deviceEkTrust: choice("ek-trust", ekTrust, ekTrustModes) }),
      };
      await changeOrganisationSettings(service, { orgId, settings, actor: OPERATOR });
      return answerWith(call, await organisationOf(service, call.values));
    }),
};

function answerWith(call: Call, { settings }: Organisation): number {
  const { deviceAttestation: attestation, deviceEkTrust: ekTrust } = settings;
  return answer(call, { attestation, ekTrust }, () => fields({ attestation, ekTrust }));
}

export const devicePolicyCommands: readonly Command[] = [policyShow, policySet];
