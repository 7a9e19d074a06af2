/** An organisation's own email texts in its configuration file. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  actor,
  nothing,
  type TestConfiguration,
  testConfiguration,
} from "../../testing/fixtures/configuration.ts";
import { changeMailText } from "../mail/mail-texts.ts";
import { countsOf } from "./entries.ts";
import { FILE_FORMAT, InvalidFile, type OrganisationFile } from "./organisation-file.ts";
import { readOrganisationFile } from "./validation.ts";

const file = (emails: OrganisationFile["emails"]): OrganisationFile => ({
  format: FILE_FORMAT,
  ...(emails ? { emails } : {}),
});
const german = { template: "NewSignIn", language: "de", subject: "Neu", body: "Eins\n\nZwei" } as const;

describe("email texts in an organisation's file", () => {
  forEachDatabase(({ fresh }) => {
    let here: TestConfiguration;
    before(async () => {
      here = await testConfiguration(await fresh());
    });
    after(() => here.close());

    test("are exported, and make another organisation the same", async () => {
      const [one, other] = [await here.makeOrg(), await here.makeOrg()];
      const { template, language, ...text } = german;
      await changeMailText(here.deps, { orgId: one, template, locale: language, text, actor });
      const exported = await here.exported(one);
      assert.deepEqual(exported.file.emails, [german]);
      assert.deepEqual(readOrganisationFile(Buffer.from(exported.text)).emails, [german]);
      assert.deepEqual(await here.apply(other, exported.file), ["created email NewSignIn, de"]);
      assert.equal((await here.exported(other)).text, exported.text);
      assert.deepEqual(countsOf(await here.shownOf(other, exported.file)), nothing);
    });

    test("are changed member by member, left alone, or pruned", async () => {
      const org = await here.makeOrg();
      await here.apply(org, file([german, { template: "ResetPassword", language: "en", button: "Go" }]));
      const changed = file([{ template: "NewSignIn", language: "de", subject: "Anders" }]);
      const shown = await here.shownOf(org, changed);
      assert.deepEqual(shown.find(({ act }) => act === "changed")?.changes, [
        { member: "subject", before: "Neu", after: "Anders" },
        { member: "body", before: german.body },
      ]);
      assert.deepEqual(await here.apply(org, changed), [
        "changed email NewSignIn, de",
        "left-alone email ResetPassword, en",
      ]);
      assert.deepEqual(await here.apply(org, file(undefined), true), [
        "left-alone email NewSignIn, de",
        "left-alone email ResetPassword, en",
      ]);
      assert.deepEqual(await here.apply(org, file([]), true), [
        "removed email NewSignIn, de",
        "removed email ResetPassword, en",
      ]);
      assert.equal((await here.exported(org)).file.emails, undefined);
    });
  });

  test("have the console's rules", () => {
    const faultsOf = (emails: readonly object[]) => {
      try {
        readOrganisationFile(Buffer.from(JSON.stringify({ format: FILE_FORMAT, emails })));
        return [];
      } catch (error) {
        assert.ok(error instanceof InvalidFile);
        return error.faults.map(({ path }) => path);
      }
    };
    const email = { template: "NewSignIn", language: "en" };
    assert.deepEqual(faultsOf([{ ...email, subject: "a\nb" }]), ["/emails/0/subject"]);
    assert.deepEqual(faultsOf([{ ...email, body: "https://evil.example" }]), ["/emails/0/body"]);
    assert.deepEqual(
      faultsOf([
        { ...email, subject: "a" },
        { ...email, subject: "b" },
      ]),
      ["/emails/1"],
    );
    assert.deepEqual(faultsOf([email]), ["/emails/0"]);
    assert.deepEqual(faultsOf([{ ...email, template: "AcceptInvitation" }]), ["/emails/0/template"]);
    assert.deepEqual(faultsOf([{ ...email, language: "../en", subject: "a" }]), ["/emails/0/language"]);
  });
});
