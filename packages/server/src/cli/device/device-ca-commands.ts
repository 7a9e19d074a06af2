/** `signet device-ca …`: the certificate authority of an organisation's devices. */
import { X509Certificate } from "node:crypto";
import { type CaGeneration, deviceCaUris } from "../../core/device-ca/generation.ts";
import { issuerOf } from "../../core/organisations/organisation.ts";
import type { Command } from "../command.ts";
import { fields, formatTime, formatTimeOrNull, printResult, table } from "../output.ts";

const caRecord = (ca: CaGeneration, baseUrl: string) => ({
  generation: ca.generation,
  state: ca.retiredAt === null ? "issues" : "retired",
  notBefore: formatTime(ca.notBefore),
  notAfter: formatTime(ca.notAfter),
  retiredAt: formatTimeOrNull(ca.retiredAt),
  /** As `openssl x509 -fingerprint -sha256` writes it. */
  fingerprint: new X509Certificate(ca.der).fingerprint256,
  crl: deviceCaUris(baseUrl, ca.orgId).crl(ca.generation),
  certificate: ca.certificatePem,
});

const caUrl = (baseUrl: string, orgId: string) => `${issuerOf(baseUrl, orgId)}/devices/ca.pem`;

export const deviceCaCommands: readonly Command[] = [
  {
    name: "device-ca show",
    summary: "show the generations of the device CA, including retired ones",
    runInOrganisation: async (call) => {
      const { service, organisation, config } = call;
      const ca = caUrl(config.baseUrl, organisation.id);
      const stored = await service.deviceCa.generations(organisation.id);
      const generations = stored.map((generation) => caRecord(generation, config.baseUrl));
      return printResult(call, { ca, generations }, () => [
        ...table(
          ["GENERATION", "STATUS", "EXPIRES", "SHA-256"],
          generations.map((one) => [String(one.generation), one.state, one.notAfter, one.fingerprint]),
        ),
        "",
        `Certificates: ${ca}`,
      ]);
    },
  },
  {
    name: "device-ca rotate",
    summary: "rotate the device CA: a new generation issues certificates; issued ones stay valid",
    examples: ["signet device-ca rotate --org 01998d6e-…"],
    runInOrganisation: async (call) => {
      const { service, organisation, by } = call;
      const { baseUrl } = call.config;
      const ca = caRecord(await service.deviceCa.rotate(by), baseUrl);
      return printResult(call, ca, () => [
        ...fields({ generation: String(ca.generation), expires: ca.notAfter, "SHA-256": ca.fingerprint }),
        "",
        "Add the new CA certificate now wherever device certificates are verified:",
        `  ${caUrl(baseUrl, organisation.id)}`,
      ]);
    },
  },
];
