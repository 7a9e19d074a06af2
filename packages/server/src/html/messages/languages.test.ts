/** What every language owes its readers, text by text. That none is left out is what the type `Messages` says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "./en/en.ts";
import { LANGUAGES, type Messages, messages } from "./messages.ts";

/** Texts that are the same in English, by language, besides the product's name. */
const sharedWords: Readonly<Record<string, readonly string[]>> = {
  de: [
    ...["Administrator", "Browser", "Code", "Generation", "Generation 1", "Generation 3", "Header", "Links"],
    ...["Logo", "Name", "Optional", "Organisation", "Passkeys", "Payload", "Scopes", "TPM", "optional"],
  ],
  fr: [
    "Actions",
    "Applications",
    "Code",
    "Console",
    "Description",
    "Documentation",
    "Invitation",
    "Logo",
    "Menu",
    "Organisation",
    "Organisations",
    "Scopes",
    "Sessions",
    "TPM",
    "minutes",
  ],
  es: ["No", "Scopes", "TPM"],
  da: [
    ...["Administrator", "Browser", "Header", "Invitation", "Links", "Logo", "Menu", "Organisation"],
    ...["Payload", "Reference", "Scopes", "TPM"],
  ],
};

const aMoment = Date.UTC(2026, 10, 21, 9, 30);
/** By the name of a parameter in the English texts: two arguments of its kind, which have to make a difference. */
const samples: Readonly<Record<string, readonly [unknown, unknown]>> = {
  ...Object.fromEntries(
    ["address", "algorithm", "application", "browser", "destination", "email", "name", "organisation"]
      .concat("title", "value", "who", "group")
      .map((name) => [name, [`Some${name}`, `Another${name}`]]),
  ),
  names: [["Firstname", "Secondname", "Thirdname"], ["Onename"]],
  milliseconds: [aMoment, aMoment + 40 * 86_400_000],
  expiresAt: [aMoment, aMoment + 40 * 86_400_000],
  seconds: [7_200, 5],
  count: [3, 1],
  least: [12, 1],
  most: [1_000, 1],
  factor: ["totp", "recovery-codes"],
};

type Variant = { args: readonly unknown[]; text: string };

/** Every member that is a text, by its path, in the order of the source. */
function members(value: unknown, path = ""): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([name, member]) =>
    members(member, path === "" ? name : `${path}.${name}`),
  );
}

function parameters(text: unknown): string[] {
  const [, list = ""] = /^\(([^)]*)\)/.exec(String(text)) ?? [];
  return list.split(",").flatMap((name) => name.trim() || []);
}

/** What the members of the path say in one language: with the first arguments, then with each other one in turn. */
function variants(path: string, names: readonly string[], text: unknown): Variant[] {
  if (typeof text !== "function") return [{ args: [], text: String(text) }];
  const pairs = names.map(
    (name) => samples[name] ?? assert.fail(`${path}: say what kind of value ${name} is`),
  );
  const first = pairs.map(([one]) => one);
  return [first, ...pairs.map(([, other], index) => first.with(index, other))].map((args) => ({
    args,
    text: String(text(...args)),
  }));
}

const english = new Map(members(en));

/** Each text of a language beside the English one. */
function forEachText(language: Messages, look: (path: string, own: Variant[], original: Variant[]) => void) {
  for (const [path, text] of members(language)) {
    const original = english.get(path);
    const names = parameters(original);
    look(path, variants(path, names, text), variants(path, names, original));
  }
}

/** Strings, and the strings in a list, stand in a text as they are; other values are formatted or stand for a word. */
const literals = (args: readonly unknown[]) =>
  args.flatMap((arg) => (typeof arg === "number" ? [] : arg)).filter((arg) => typeof arg === "string");

const without = (text: string, args: readonly unknown[]) =>
  literals(args).reduce((rest, arg) => rest.replaceAll(arg, ""), text);

test("the five languages are there, each found by its locale", () => {
  assert.deepEqual(LANGUAGES.map(({ locale }) => locale).sort(), ["da", "de", "en", "es", "fr"]);
  for (const language of LANGUAGES) assert.equal(messages([language.locale]), language);
});

for (const language of LANGUAGES) {
  const { locale } = language;
  const shared = [en.product, ...(sharedWords[locale] ?? [])];

  test(`${locale}: the members are the English ones, in their order`, () => {
    assert.deepEqual(
      members(language).map(([path, text]) => `${path}: ${typeof text}`),
      members(en).map(([path, text]) => `${path}: ${typeof text}`),
    );
  });

  test(`${locale}: every argument of a text is in it`, () => {
    forEachText(language, (path, own) => {
      const [first, ...others] = own;
      assert.ok(first);
      for (const [index, arg] of first.args.entries()) {
        const isWord = parameters(english.get(path))[index] === "factor";
        if (!isWord)
          for (const word of literals([arg])) assert.ok(first.text.includes(word), `${path}: ${word}`);
        assert.notEqual(others[index]?.text, first.text, `${path} says nothing of its argument ${index + 1}`);
      }
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
      [consents.revoke, consents.revokeOf("X")],
      [language.console.consents.revoke, language.console.consents.revokeOf("X")],
      [
        language.console.consents.preauthorizations.remove,
        language.console.consents.preauthorizations.removeOf("X"),
      ],
      [devices.list.revoke, devices.list.revokeOf("X")],
      [devices.list.replace, devices.list.replaceOf("X")],
      [devices.codes.withdraw, devices.codes.withdrawOf("X")],
      [landing.discovery, landing.discoveryOf("X")],
      [security.passkeys.change, security.passkeys.changeOf("X")],
      [security.devices.forget, security.devices.forgetOf("X")],
      [sessions.end, sessions.endOf("X")],
      [language.console.applications.secrets.end, language.console.applications.secrets.endOf("X")],
      [language.console.applications.users.takeOff, language.console.applications.users.takeOffOf("X")],
    ] as const;
    for (const [seen, label] of labels) assert.ok(label.toLowerCase().includes(seen.toLowerCase()), label);
  });

  if (language === en) continue;

  test(`${locale}: no text is left in English, and no date or time either`, () => {
    const same = new Set<string>();
    forEachText(language, (path, own, original) => {
      for (const [index, { text, args }] of own.entries()) {
        assert.doesNotMatch(text, /\bNov \d|\bhours\b/, `${path}: ${text}`);
        if (text !== original[index]?.text || !/\p{L}/u.test(without(text, args))) continue;
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
