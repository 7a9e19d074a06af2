/** What every language owes its readers, text by text. That none is left out is what `npm run check` says. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { localesFolder } from "./language-files.ts";
import { LOCALES, type Messages, messages } from "./messages.ts";

/** Texts that are the same in all. */
const everywhere = [
  "CSV",
  "FAPI 2.0 Security Profile",
  "Favicon",
  "Next.js, Python, Kubernetes…",
  "SCIM",
  "Terminal",
  "URL",
  "Webhooks",
] as const;
/** Texts that are the same in English, by language, besides the product's name. */
const sharedWords: Readonly<Record<string, readonly string[]>> = {
  de: [
    ...everywhere,
    "Details",
    "Text",
    ...[
      "Administrator",
      "Browser",
      "Code",
      "Generation",
      "Generation 1",
      "Generation 3",
      "Header",
      "Integration",
    ],
    "Links",
    ...[
      "Logo",
      "Name",
      "Optional",
      "Organisation",
      "Passkey",
      "Passkeys",
      "Payload",
      "Scopes",
      "Status",
      "TPM",
    ],
    ...["Claim", "Issuer", "Token"],
    "optional",
  ],
  fr: [
    ...everywhere,
    "Secret",
    "Source",
    "Infrastructure",
    "Invitations",
    "Pages",
    "Actions",
    "Active",
    "Agents",
    "Application",
    "Applications",
    "Code",
    "Console",
    "Description",
    "Documentation",
    "Images",
    "Invitation",
    "Logo",
    "Menu",
    "Organisation",
    "Organisations",
    "Scopes",
    "Sessions",
    "TPM",
    "Type",
    "minutes",
    ...["Claim", "Question", "Service"],
  ],
  es: [
    ...everywhere,
    "Actor",
    "Claim",
    "Error",
    "General",
    "No",
    "Roles",
    "Scopes",
    "TPM",
    "Token",
    "Tokens",
    "Variables:",
  ],
  da: [
    ...everywhere,
    "Download",
    "Download .env",
    ...[
      "Administrator",
      "Browser",
      "Endpoints",
      "Grant type",
      "Grant types",
      "Header",
      "Integration",
      "Invitation",
      "Links",
    ],
    ...["Logo", "Menu"],
    ...["Offline", "Online", "Organisation", "Payload", "Public client", "Reference", "Scopes", "Status"],
    ...["Claim", "Client ID", "Client secret", "Issuer", "TPM", "Token", "Tokens", "Type"],
  ],
};

const aMoment = Date.UTC(2026, 10, 21, 9, 30);
/** By the name of an argument: two values of its kind, which have to make a difference. */
const samples: Readonly<Record<string, readonly [string, string] | readonly [number, number]>> = {
  version: ["2026-11", "2"],
  ...Object.fromEntries(
    ["address", "algorithm", "application", "browser", "destination", "email", "name", "names"]
      .concat(
        "organisation",
        "connection",
        "title",
        "value",
        "who",
        "group",
        "stack",
        "scope",
        "text",
        "field",
        "languages",
        "provider",
      )
      .map((name) => [name, [`Some${name}`, `Another${name}`]]),
  ),
  at: [aMoment, aMoment + 40 * 86_400_000],
  expiresAt: [aMoment, aMoment + 40 * 86_400_000],
  seconds: [7_200, 5],
  minutes: [3, 1],
  count: [3, 1],
  min: [12, 1],
  max: [1_000, 1],
  from: [26, 1],
  to: [50, 2],
  total: [60, 3],
  number: [4, 2],
  failed: [5, 2],
  share: [0.25, 0.031],
  factor: ["totp", "recovery-codes"],
};

type Values = Record<string, string | number>;
type Variant = { values: Values; text: string };
type Said = string | ((values: Values) => string);
type Tree = { [key: string]: string | Tree };

/** Every text in the files of a language, by its path, in their order. */
function textsOf(locale: string): [path: readonly string[], text: string][] {
  const folder = path.join(localesFolder, locale);
  const members = (tree: Tree, above: readonly string[]): [readonly string[], string][] =>
    Object.entries(tree).flatMap(([key, member]) =>
      typeof member === "string" ? [[[...above, key], member]] : members(member, [...above, key]),
    );
  return readdirSync(folder).flatMap((file) =>
    members(JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Tree, []),
  );
}

const english = textsOf("en").map(([at, text]) => ({
  at,
  /** Their names; a text in braces after a plural or a select is none. */
  names: [...new Set([...text.matchAll(/\{(\w+)(?=[,}])/g)].map(([, name = ""]) => name))],
}));

const said = (language: Messages, at: readonly string[]): Said =>
  at.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], language) as Said;

/** What a text says with the first values, then with each other one in turn. */
function variants(text: Said, at: readonly string[], names: readonly string[]): Variant[] {
  if (typeof text === "string") return [{ values: {}, text }];
  const pairs = names.map(
    (name) => [name, samples[name] ?? assert.fail(`${at}: say what kind of value ${name} is`)] as const,
  );
  const first = Object.fromEntries(pairs.map(([name, [one]]) => [name, one]));
  return [first, ...pairs.map(([name, [, other]]) => ({ ...first, [name]: other }))].map((values) => ({
    values,
    text: text(values),
  }));
}

/** Each text of a language beside the English one. */
function forEachText(language: Messages, look: (path: string, own: Variant[], original: Variant[]) => void) {
  for (const { at, names } of english)
    look(
      at.join("."),
      variants(said(language, at), at, names),
      variants(said(messages(["en"]), at), at, names),
    );
}

/** Strings stand in a text as they are, other values are formatted, and a factor stands for words. */
const literals = ({ factor: _, ...values }: Values) =>
  Object.values(values).filter((value) => typeof value === "string");

const without = (text: string, values: Values) =>
  literals(values).reduce((rest, value) => rest.replaceAll(value, ""), text);

test("the five languages are there, each found by its locale", () => {
  assert.deepEqual(readdirSync(localesFolder).sort(), [...LOCALES].sort());
  for (const locale of LOCALES) assert.equal(messages([locale]).locale, locale);
});

for (const locale of LOCALES) {
  const language = messages([locale]);
  const shared = [language.product, ...(sharedWords[locale] ?? [])];

  test(`${locale}: the texts are the English ones, in their order`, () => {
    assert.deepEqual(
      textsOf(locale).map(([at]) => at),
      english.map(({ at }) => at),
    );
  });

  test(`${locale}: every argument of a text is in it`, () => {
    forEachText(language, (path, own) => {
      const [first, ...others] = own;
      assert.ok(first);
      for (const word of literals(first.values)) assert.ok(first.text.includes(word), `${path}: ${word}`);
      for (const other of others)
        assert.notEqual(other.text, first.text, `${path} says nothing of ${JSON.stringify(other.values)}`);
    });
  });

  test(`${locale}: no text has stray spaces or straight quotes`, () => {
    forEachText(language, (path, own) => {
      for (const { text } of own) {
        assert.doesNotMatch(text, /^\s|\s$|\s\s/, `${path}: ${JSON.stringify(text)}`);
        assert.doesNotMatch(text, /["']/, `${path}: ${text}`);
        assert.notEqual(text, "", path);
      }
    });
  });

  test(`${locale}: a label for a link or button has the words that are seen on it (WCAG 2.5.3)`, () => {
    const { consents, devices, landing, security, sessions } = language;
    const labels = [
      [consents.revoke, consents.revokeOf({ application: "X" })],
      [language.console.consents.revoke, language.console.consents.revokeOf({ application: "X" })],
      [
        language.console.consents.preauthorizations.remove,
        language.console.consents.preauthorizations.removeOf({ application: "X" }),
      ],
      [devices.list.revoke, devices.list.revokeOf({ name: "X" })],
      [devices.list.replace, devices.list.replaceOf({ name: "X" })],
      [devices.codes.withdraw, devices.codes.withdrawOf({ name: "X" })],
      [landing.discovery, landing.discoveryOf({ organisation: "X" })],
      [security.passkeys.change, security.passkeys.changeOf({ name: "X" })],
      [security.devices.forget, security.devices.forgetOf({ browser: "X" })],
      [sessions.end, sessions.endOf({ browser: "X" })],
      [
        language.console.applications.secrets.revoke,
        language.console.applications.secrets.revokeOf({ name: "X" }),
      ],
      [
        language.console.applications.users.unassign,
        language.console.applications.users.unassignOf({ email: "X" }),
      ],
    ] as const;
    for (const [seen, label] of labels) assert.ok(label.toLowerCase().includes(seen.toLowerCase()), label);
  });

  if (locale === "en") continue;

  test(`${locale}: no text is left in English, and no date or time either`, () => {
    const same = new Set<string>();
    forEachText(language, (path, own, original) => {
      for (const [index, { text, values }] of own.entries()) {
        assert.doesNotMatch(text, /\bNov \d|\bhours\b/, `${path}: ${text}`);
        if (text !== original[index]?.text || !/\p{L}/u.test(without(text, values))) continue;
        assert.ok(shared.includes(text), `${path}: ${text}`);
        same.add(text);
      }
    });
    assert.deepEqual([...same].sort(), [...shared].sort(), "the list of shared words has no others");
  });

  test(`${locale}: a text ends as the English one does`, () => {
    const end = (text = "") => /[.?!:;,…]$/.exec(text)?.[0] ?? "without a mark";
    forEachText(language, (path, own, original) => {
      for (const [index, { text }] of own.entries())
        assert.equal(end(text), end(original[index]?.text), `${path}: ${text}`);
    });
  });
}
