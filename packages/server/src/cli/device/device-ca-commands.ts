/** `signet device-ca …`: the certificate authority of an organisation's devices. */
import { X509Certificate } from "node:crypto";
import { type CaGeneration, deviceUris } from "../../core/device-ca/generation.ts";
import { issuerOf } from "../../core/organisations/organisation.ts";
import { type Command, orgArguments } from "../command.ts";
import { fields, formatTime, formatTimeOrNull, printResult, table } from "../output.ts";
import { OPERATOR, requireOrganisation } from "../with-service.ts";

const record = (ca: CaGeneration, baseUrl: string) => ({
  generation: ca.generation,
  state: ca.retiredAt === null ? "issues" : "retired",
  notBefore: formatTime(ca.notBefore),
  notAfter: formatTime(ca.notAfter),
  retiredAt: formatTimeOrNull(ca.retiredAt),
  /** As `openssl x509 -fingerprint -sha256` writes it. */
  fingerprint: new X509Certificate(ca.der).fingerprint256,
  crl: deviceUris(baseUrl, ca.orgId).crl(ca.generation),
  certificate: ca.certificatePem,
});

const caUrl = (baseUrl: string, orgId: string) => `${issuerOf(baseUrl, orgId)}/devices/ca.pem`;

const deviceCaShow: Command = {
  name: "device-ca show",
  summary: "show the generations of the device CA, including retired ones",
  ...orgArguments,
  runWithService: async (service, call) => {
    const { config, deviceCa } = service;
    const { id } = await requireOrganisation(service, call.values);
    const generations = (await deviceCa.generations(id)).map((ca) => record(ca, config.baseUrl));
    return printResult(call, { ca: caUrl(config.baseUrl, id), generations }, () => [
      ...table(
        ["GENERATION", "STATUS", "EXPIRES", "SHA-256"],
        generations.map((ca) => [String(ca.generation), ca.state, ca.notAfter, ca.fingerprint]),
      ),
      "",
      `Certificates: ${caUrl(config.baseUrl, id)}`,
    ]);
  },
};

const deviceCaRotate: Command = {
  name: "device-ca rotate",
  summary: "rotate the device CA: a new generation issues certificates; issued ones stay valid",
  ...orgArguments,
  examples: ["signet device-ca rotate --org 01998d6e-…"],
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const { baseUrl } = service.config;
    const ca = record(await service.deviceCa.rotate({ orgId, actor: OPERATOR }), baseUrl);
    return printResult(call, ca, () => [
      ...fields({
        generation: String(ca.generation),
        expires: ca.notAfter,
        "SHA-256": ca.fingerprint,
      }),
      "",
      "Add the new CA certificate now wherever device certificates are verified:",
      `  ${caUrl(baseUrl, orgId)}`,
    ]);
  },
};

export const deviceCaCommands: readonly Command[] = [deviceCaShow, deviceCaRotate];
