import assert from "node:assert/strict";
import { test } from "node:test";
import { textTypes, typesFolder } from "../../generators/text-types.ts";
import { localesFolder, readTexts } from "../locale-files.ts";
import type { SourceFile } from "../source-files.ts";
import { textFaults } from "./texts.ts";

const locale = (language: string, texts: object): SourceFile => ({
  path: `${localesFolder}/${language}/area.json`,
  text: JSON.stringify(texts, null, 2),
});
const page = (text: string): SourceFile => ({ path: "packages/server/src/html/x.page.ts", text });

/** The faults, with types that are those of the English texts. */
function faults(locales: SourceFile[], source: string): string[] {
  const types = textTypes(readTexts(locales).languages.get("en") ?? new Map());
  return textFaults(locales, [page(source), ...types]).map(({ line, message }) => `${line}: ${message}`);
}

const usesTitle = "const x = (messages: Messages) => messages.list.title;";

test("texts that every language has, and a page uses, are in order", () => {
  const texts = { list: { title: "{count, plural, one {# user} other {# users}}" } };
  assert.deepEqual(faults([locale("en", texts), locale("de", texts)], usesTitle), []);
});

test("a text that is missing, foreign or has other arguments is a fault", () => {
  const english = locale("en", { list: { title: "{name} since {at, date, day}" } });
  const found = (texts: object) => faults([english, locale("de", texts)], usesTitle);
  assert.deepEqual(found({ list: {} }), ["1: list.title is missing"]);
  assert.deepEqual(found({ list: { title: "{name}: {at, date, minute}", other: "Noch eins" } }), [
    "4: list.other is no English text",
  ]);
  assert.deepEqual(found({ list: { title: "{name} seit {at}" } }), [
    "3: list.title has at: string, name: string, the English text at: number, name: string",
  ]);
});

test("a plural in one language may be a plain number in another, and an argument is one in every branch", () => {
  const english = locale("en", { list: { title: "{count, number} of {total, number}" } });
  const own = "{count, plural, =0 {none} other {# von {total, number}}}";
  assert.deepEqual(faults([english, locale("de", { list: { title: own } })], usesTitle), []);
});

test("what is no ICU MessageFormat, or has a style that the server does not know, is a fault", () => {
  const found = (title: string) => faults([locale("en", { list: { title } })], "");
  assert.match(found("Since {at")[0] ?? "", /^3: list\.title: /);
  assert.match(found("{count, plural, one {# user}}")[0] ?? "", /^3: list\.title: MISSING_OTHER_CLAUSE/);
  assert.match(found("{at, date, short}")[0] ?? "", /^3: list\.title: the style "short" is none of day/);
  assert.match(found("{at, time, short}")[0] ?? "", /times are written with date/);
  assert.match(faults([locale("en", { list: { title: ["a", "b"] } })], "")[0] ?? "", /is no text/);
});

test("types that are stale, missing or of an area that is gone are a fault", () => {
  const english = locale("en", { list: { title: "Users" } });
  const types = textTypes(readTexts([english]).languages.get("en") ?? new Map());
  const stale = (files: SourceFile[]) =>
    textFaults([english], [page(usesTitle), ...files])
      .filter(({ message }) => /npm run generate:texts/.test(message))
      .map(({ file }) => file);
  const files = [`${typesFolder}/area.ts`, `${typesFolder}/texts.ts`];
  assert.deepEqual(
    types.map(({ path }) => path),
    files,
  );
  assert.deepEqual(stale(types), []);
  assert.deepEqual(stale([]), files);
  assert.deepEqual(stale(types.map((file) => ({ ...file, text: `${file.text} ` }))), files);
  assert.deepEqual(stale([...types, { path: `${typesFolder}/gone.ts`, text: "" }]), [
    `${typesFolder}/gone.ts`,
  ]);
});

const unused = (texts: object, source: string) =>
  faults([locale("en", texts)], source).map((message) => /: (\S+) is used nowhere$/.exec(message)?.[1]);

test("a text that no page uses is a fault, also where another one has its name", () => {
  const texts = { list: { title: "Users" }, edit: { title: "Edit" } };
  assert.deepEqual(unused(texts, usesTitle), ["edit.title"]);
  assert.deepEqual(unused(texts, "const x = ({ messages }: View) => messages.list.title;"), ["edit.title"]);
  assert.deepEqual(unused(texts, ""), ["list.title", "edit.title"]);
});

test("a text is used through constants, destructuring and annotated parameters", () => {
  const texts = { console: { list: { title: "Users", none: "None" }, frame: { menu: "Menu" } } };
  const used = (source: string) => assert.deepEqual(unused(texts, source), ["console.frame.menu"], source);
  used("function x(view: View) { const text = view.messages.console.list; f(text.title, text.none); }");
  used("const x = ({ console: { list: text } }: Messages) => `${text.title} ${text.none}`;");
  used('const x = ({ title, none }: Messages["console"]["list"]) => [title, none];');
  used('type Texts = Messages["console"]["list"]; const x = (text: Texts) => text.title + text.none;');
  used("const x = (a: boolean, { console }: Messages) => { const { title, none } = console.list; };");
  used(
    "const x = (messages: Messages, a: boolean) => { const t = a ? messages.console.list : undefined; };".replace(
      "undefined",
      "messages.console.list",
    ) + " const y = ({ console: { list } }: Messages) => list.title + list.none;",
  );
});

test("an object that is looked into with a key, or handed on to where it is not followed, counts whole", () => {
  const texts = { list: { states: { on: "On", off: "Off" }, title: "Users" } };
  const used = (source: string) => assert.deepEqual(unused(texts, source), ["list.title"], source);
  used("const x = ({ list }: Messages, state: State) => list.states[state];");
  used("const x = ({ list }: Messages) => Object.values(list.states);");
  used("const x = ({ list }: Messages) => show(list.states);");
  assert.deepEqual(
    unused(
      texts,
      'const show = (states: Messages["list"]["states"]) => states.on; show(messages.list.states);',
    ),
    ["list.states.off", "list.title"],
  );
});
