import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { softEk } from "@signet/protocol/testing/soft-tpm";
import { newEcKey, testCertificate } from "@signet/protocol/testing/test-certificate";
import { forEachDatabase } from "../../../testing/databases.ts";
import {
  ekCertificate,
  type SoftTpmDevice,
  type SoftVendor,
  softTpmDevice,
  softVendor,
} from "../../../testing/fakes/soft-tpm-device.ts";
import { refused, type TpmFixture, tpmFixture } from "../../../testing/fixtures/tpm-fixture.ts";
import { addAllowedEks, removeRoot } from "./roots.ts";

describe("trust in endorsement keys", () => {
  forEachDatabase(({ fresh }) => {
    let fixture: TpmFixture;
    before(async () => {
      fixture = await tpmFixture(await fresh());
    });
    after(() => fixture.close());

    test("trusts an endorsement key by its vendor's certificate path", async () => {
      const device = softTpmDevice(fixture.vendor);
      const code = await fixture.newCode();
      const stranger = softVendor();
      const expired = {
        validFrom: new Date(fixture.clock() - 9e7),
        validTo: new Date(fixture.clock() - 1e6),
      };
      const ek = softEk("p256");
      const cases: ReadonlyArray<readonly [string, Partial<SoftTpmDevice>]> = [
        ["a vendor of the same name that nobody imported", softTpmDevice(stranger)],
        ["an authority that is missing", { ekChain: [] }],
        ["another's authority", { ekChain: [stranger.issuing.der] }],
        [
          "an authority's certificate as an EK",
          { ekCertificate: ekCertificate(fixture.vendor, ek, { isCa: true, keyUsage: [4, 5] }).der },
        ],
        [
          "a certificate for something else",
          { ekCertificate: ekCertificate(fixture.vendor, ek, { keyUsage: [0] }).der },
        ],
        ["one that has expired", { ekCertificate: ekCertificate(fixture.vendor, ek, expired).der }],
        ["a forged one", { ekCertificate: ekCertificate(fixture.vendor, ek, { forger: newEcKey() }).der }],
      ];
      for (const [what, changed] of cases)
        refused(await fixture.begin({ ...device, ...changed }, code), 403, "ek_untrusted", what);
      const { der } = ekCertificate(
        fixture.vendor,
        generateKeyPairSync("ec", { namedCurve: "P-521" }).privateKey,
      );
      refused(await fixture.begin({ ...device, ekCertificate: der }, code), 400, "unsupported_ek");
      refused(
        await fixture.begin({ ...device, ekCertificate: Buffer.from("none") }, code),
        400,
        "ek_malformed",
      );
      refused(await fixture.begin({ ...device, ekChain: [Buffer.from("none")] }, code), 400, "ek_malformed");
      const stored = Buffer.concat([device.ekCertificate, Buffer.alloc(300, 0xff)]);
      assert.equal(
        (await fixture.begin({ ...device, ekCertificate: stored }, code)).status,
        200,
        "as the TPM has it",
      );
    });

    test("accepts an imported intermediate as a trust anchor", async () => {
      const other = softVendor("Other");
      await fixture.believe(other.issuing.der);
      const device = { ...softTpmDevice(other), ekChain: [] };
      assert.equal((await fixture.enrol(device, await fixture.newCode())).status, 201);
    });

    test("the allow list needs no vendor; in mode both each is required", async () => {
      const stranger = softTpmDevice(softVendor("Nobody"));
      const known = softTpmDevice(fixture.vendor);
      const code = await fixture.newCode();
      const allow = (device: SoftTpmDevice) =>
        addAllowedEks(fixture.running.service, {
          orgId: fixture.orgId,
          actor: "test",
          files: [{ name: "ek.der", blocks: [{ kind: "certificate", der: device.ekCertificate }] }],
        });
      await fixture.settings({ deviceEkTrust: "allowlist" });
      refused(await fixture.begin(known, code), 403, "ek_not_allowed");
      await allow(stranger);
      assert.equal((await fixture.begin(stranger, code)).status, 200);
      const begun = await fixture.answer(stranger, code);
      await fixture.settings({ deviceEkTrust: "both" });
      refused(await fixture.begin(stranger, code), 403, "ek_untrusted");
      refused(await fixture.call("complete", begun), 403, "ek_untrusted");
      refused(await fixture.begin(known, code), 403, "ek_not_allowed");
      await allow(known);
      assert.equal((await fixture.begin(known, code)).status, 200);
      await fixture.settings({ deviceEkTrust: "chain" });
    });

    test("trust withdrawn between the two steps applies to the second", async () => {
      const { running, orgId } = fixture;
      const change = { orgId, actor: "test" };
      const late = async (vendor: SoftVendor, takeBack: (device: SoftTpmDevice) => Promise<unknown>) => {
        const [device, code] = [softTpmDevice(vendor), await fixture.newCode()];
        const answer = await fixture.answer(device, code);
        await takeBack(device);
        return fixture.call("complete", answer);
      };
      const gone = softVendor("Gone");
      const fingerprint = sha256Base64url(gone.root.der);
      await fixture.believe(gone.root.der);
      const rootless = await late(gone, () => removeRoot(running.service, { ...change, fingerprint }));
      refused(rootless, 403, "ek_untrusted", "a root");
      const unlisted = await late(fixture.vendor, () => fixture.settings({ deviceEkTrust: "both" }));
      refused(unlisted, 403, "ek_not_allowed", "the policy");
      await fixture.settings({ deviceEkTrust: "chain" });
      assert.equal((await late(fixture.vendor, async () => {})).status, 201, "nothing");
    });

    test("an untrusted vendor certificate with a trusted name has no effect", async () => {
      const impostor = testCertificate({ subject: "Vendor root", isCa: true });
      const issuing = testCertificate({ subject: "Vendor issuing", isCa: true, issuer: impostor });
      const device = softTpmDevice({ root: impostor, issuing });
      const chain = [issuing.der, impostor.der, fixture.vendor.issuing.der, fixture.vendor.root.der];
      refused(
        await fixture.begin({ ...device, ekChain: chain }, await fixture.newCode()),
        403,
        "ek_untrusted",
      );
    });
  });
});
