/** `signet device-ca …`: the certificate authority of an organisation's devices. */
import { X509Certificate } from "node:crypto";
import { type CaGeneration, deviceUris } from "../../core/device-ca/generation.ts";
import { issuerOf } from "../../core/organisations/organisation.ts";
import { answer, fields, table, time, timeOrNull } from "../answer.ts";
import { type Command, jsonOption, orgOption } from "../command.ts";
import { OPERATOR, organisationOf, withService } from "../with-service.ts";

const record = (ca: CaGeneration, baseUrl: string) => ({
  generation: ca.generation,
  state: ca.retiredAt === null ? "issues" : "retired",
  notBefore: time(ca.notBefore),
  notAfter: time(ca.notAfter),
  retiredAt: timeOrNull(ca.retiredAt),
  /** As `openssl x509 -fingerprint -sha256` writes it. */
  fingerprint: new X509Certificate(ca.der).fingerprint256,
  crl: deviceUris(baseUrl, ca.orgId).crl(ca.generation),
  certificate: ca.certificatePem,
});

const caOf = (baseUrl: string, orgId: string) => `${issuerOf(baseUrl, orgId)}/devices/ca.pem`;

const deviceCaShow: Command = {
  name: "device-ca show",
  summary:
    "show the generations of the device CA: the one that issues, and those whose certificates still count",
  usage: "--org ID [--json]",
  options: { ...orgOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { config, deviceCa } = service;
      const { id } = await organisationOf(service, call.values);
      const generations = (await deviceCa.generations(id)).map((ca) => record(ca, config.baseUrl));
      return answer(call, { ca: caOf(config.baseUrl, id), generations }, () => [
        ...table(
          ["GENERATION", "STATE", "ENDS", "SHA-256"],
          generations.map((ca) => [String(ca.generation), ca.state, ca.notAfter, ca.fingerprint]),
        ),
        "",
        `Certificates: ${caOf(config.baseUrl, id)}`,
      ]);
    }),
};

const deviceCaRotate: Command = {
  name: "device-ca rotate",
  summary: "make a new generation of the device CA, which issues from now on; what was issued stays valid",
  usage: "--org ID [--json]",
  options: { ...orgOption, ...jsonOption },
  examples: ["signet device-ca rotate --org 01998d6e-…"],
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const { baseUrl } = service.config;
      const made = record(await service.deviceCa.rotate({ orgId, actor: OPERATOR }), baseUrl);
      return answer(call, made, () => [
        ...fields({
          generation: String(made.generation),
          ends: made.notAfter,
          "SHA-256": made.fingerprint,
        }),
        "",
        "Who checks device certificates needs the new one as well, now:",
        `  ${caOf(baseUrl, orgId)}`,
      ]);
    }),
};

export const deviceCaCommands: readonly Command[] = [deviceCaShow, deviceCaRotate];
