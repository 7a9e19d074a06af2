import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { readCsr } from "@signet/protocol/csr/csr";
import { newEcKey } from "@signet/protocol/testing/test-certificate";
import {
  changeOrganisationSettings,
  setOrganisationStatus,
} from "../../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { csrOf, enrol, newCode } from "../../../testing/fixtures/enrolments.ts";
import { makeOrganisation, startTestService, type TestService } from "../../../testing/test-service.ts";
import { enrolDevice } from "./enrol-device.ts";
import { enrolmentCodeHash } from "./enrolment-code.ts";

describe("an organisation changed during an enrolment", () => {
  forEachDatabase(({ fresh }) => {
    let server: TestService;
    before(async () => {
      server = await startTestService({ databaseUrl: await fresh() });
    });
    after(() => server.close());

    /** Something happens after the request was let in, and before its code is used. */
    const enrolledDuring = async (happens: (orgId: string) => Promise<unknown>) => {
      const { service } = server;
      const org = await makeOrganisation(service);
      const code = await newCode(service, org.organisation.id);
      const enrolment = {
        organisation: org.organisation,
        codeHash: enrolmentCodeHash(code) ?? "",
        csr: readCsr(await csrOf(newEcKey())),
        address: "192.0.2.1",
      };
      const issue: typeof service.deviceCa.issue = async (input) => {
        await happens(input.orgId);
        return service.deviceCa.issue(input);
      };
      return { enrolled: enrolDevice({ ...service, deviceCa: { issue } }, enrolment), org, code };
    };
    const asksForTpm = (deviceAttestation: "required" | "optional") => (orgId: string) =>
      changeOrganisationSettings(server.service, { orgId, settings: { deviceAttestation }, actor: "test" });
    const disabled = (is: boolean) => (orgId: string) =>
      setOrganisationStatus(server.service, { orgId, disabled: is, actor: "test" });

    for (const [what, error, happens, undo] of [
      ["asks for TPMs", "attestation_required", asksForTpm("required"), asksForTpm("optional")],
      ["is disabled", "not_found", disabled(true), disabled(false)],
    ] as const)
      test(`enrols nobody when it ${what} meanwhile, and leaves the code usable`, async () => {
        const { enrolled, org, code } = await enrolledDuring(happens);
        await assert.rejects(enrolled, { code: error });
        await undo(org.organisation.id);
        assert.equal((await enrol(org.issuer, code)).status, 201);
      });
  });
});
