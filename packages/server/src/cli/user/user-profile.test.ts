import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";

forEachDatabase(({ fresh }) => {
  let settings: OperatorSettings;
  let org: string;
  before(async () => {
    settings = await operatorSettings(await fresh());
    org = (await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], settings.env)).id;
    const person = ["--firstname", "Ada", "--phone", "+45 1234", "--generate"];
    await runForJson(["user", "create", "--org", org, "--email", "ada@example.com", ...person], settings.env);
  });
  after(() => settings.remove());

  const command = (...options: string[]) => [
    "user",
    "set-profile",
    "--org",
    org,
    "--email",
    "ada@example.com",
    ...options,
  ];
  const set = (...options: string[]) =>
    runForJson<Record<string, unknown>>(command(...options), settings.env);

  test("changes what is given, and an empty text removes it", async () => {
    const made = await set(
      "--nickname",
      "Ada",
      "--profile-url",
      "https://ada.example/",
      "--birthdate",
      "1815",
    );
    const told = ({ id: _, createdAt: __, ...rest }: Record<string, unknown>) => rest;
    const account = { email: "ada@example.com", emailVerified: false, role: "Standard", disabledAt: null };
    const person = { ...account, firstname: "Ada", surname: "" };
    const details = { nickname: "Ada", profileUrl: "https://ada.example/", birthdate: "1815" };
    assert.deepEqual(told(made), { ...person, ...details, phone: "+45 1234", locale: null });
    const changed = await set("--nickname", "", "--phone", "", "--locale", "en-GB", "--surname", "Lovelace");
    const { nickname: _, ...kept } = details;
    assert.deepEqual(told(changed), {
      ...person,
      ...kept,
      surname: "Lovelace",
      phone: null,
      locale: "en-GB",
    });
    assert.equal((await set("--zoneinfo", "europe/london"))["zoneinfo"], "Europe/London");
  });

  test("refuses invalid values, and a command that changes nothing, by usage errors", async () => {
    for (const [options, words] of [
      [[], /give at least one member/],
      [["--birthdate", "yesterday"], /--birthdate is not valid/],
      [["--website", "javascript:alert(1)"], /--website is not valid/],
      [["--phone", "call me"], /--phone is not valid/],
      [["--locale", "tlh-"], /--locale is not valid/],
      [["--street-address", "x".repeat(301)], /--street-address is not valid/],
    ] as const) {
      const { code, err } = await runInProcess(command(...options), settings.env);
      assert.equal(code, 2, options.join(" "));
      assert.match(err, words);
    }
  });
});
