/** `signet device-policy …`: the organisation's attestation policy for devices. */
import { attestationPolicies, ekTrustModes } from "../../core/devices/device.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../core/organisations/organisations.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  optionalText,
  orgArguments,
  orgOption,
  UsageError,
} from "../command.ts";
import { fields, printResult } from "../output.ts";
import { OPERATOR, requireOrganisation } from "../with-service.ts";

const policyShow: Command = {
  name: "device-policy show",
  summary: "show the organisation's device attestation policy",
  ...orgArguments,
  runWithService: async (service, call) => printPolicy(call, await requireOrganisation(service, call.values)),
};

const policySet: Command = {
  name: "device-policy set",
  summary: "change the device attestation policy; enrolled devices are unaffected",
  usage: "--org ID [--attestation POLICY] [--ek-trust MODE] [--json]",
  options: {
    ...orgOption,
    attestation: {
      type: "string",
      value: "POLICY",
      help: "none, optional or required: whether enrolment needs a TPM; an enrollment code can only be stricter",
    },
    "ek-trust": {
      type: "string",
      value: "MODE",
      help: "chain: EK certificate chains to an imported root; allowlist: EK is on the allow list; or both",
    },
    ...jsonOption,
  },
  examples: ["signet device-policy set --org 01998d6e-… --attestation required --ek-trust both"],
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const attestation = optionalText(call.values, "attestation");
    const ekTrust = optionalText(call.values, "ek-trust");
    if (attestation === undefined && ekTrust === undefined)
      throw new UsageError("--attestation or --ek-trust is required");
    const settings = {
      ...(attestation === undefined
        ? {}
        : { deviceAttestation: choice("attestation", attestation, attestationPolicies) }),
      ...(ekTrust === undefined ? {} : { deviceEkTrust: choice("ek-trust", ekTrust, ekTrustModes) }),
    };
    await changeOrganisationSettings(service, { orgId, settings, actor: OPERATOR });
    return printPolicy(call, await requireOrganisation(service, call.values));
  },
};

function printPolicy(call: Call, { settings }: Organisation): number {
  const { deviceAttestation: attestation, deviceEkTrust: ekTrust } = settings;
  return printResult(call, { attestation, ekTrust }, () => fields({ attestation, ekTrust }));
}

export const devicePolicyCommands: readonly Command[] = [policyShow, policySet];
