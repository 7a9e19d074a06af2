/** CSV of users as spreadsheets, editors and careless hands write it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { MalformedCsv, parseCsv } from "./csv.ts";
import { importLimits, readAddresses, readUsers } from "./read-users.ts";

const cells = (text: string) => parseCsv(text).map((row) => row.cells);

test("reads commas, semicolons and tabs, quotes, line ends of every kind, and a byte order mark", () => {
  const expected = [
    ["email", "surname"],
    ["ada@a.example", 'Love"lace, Ada'],
  ];
  for (const separator of [",", ";", "\t"])
    for (const end of ["\n", "\r\n", "\r"])
      assert.deepEqual(
        cells(`\uFEFFemail${separator}surname${end}ada@a.example${separator}"Love""lace, Ada"${end}${end}`),
        expected,
      );
  assert.deepEqual(cells("email\nada@a.example"), [["email"], ["ada@a.example"]]);
  assert.deepEqual(
    parseCsv('a,b\n"one\ntwo",x\n\nlast,y').map(({ line }) => line),
    [1, 2, 5],
    "a cell of two lines and an empty line are counted",
  );
});

test("a quote that is never closed, and text after one, name their line", () => {
  for (const [text, line] of [
    ['a,b\n"open,x\n', 2],
    ['a,b\nc,d\n"x"y,z', 3],
  ] as const)
    assert.throws(
      () => parseCsv(text),
      (error) => error instanceof MalformedCsv && error.line === line,
    );
});

test("reads users with their role and language, whatever the order of the columns", () => {
  const { users, faults } = readUsers(
    "Surname;EMAIL;role;locale\nLovelace;ada@a.example;Administrator;de\n;bo@a.example;;",
  );
  assert.deepEqual(faults, []);
  assert.deepEqual(users, [
    {
      line: 2,
      email: "ada@a.example",
      firstname: "",
      surname: "Lovelace",
      role: "Administrator",
      locale: "de",
    },
    { line: 3, email: "bo@a.example", firstname: "", surname: "", role: "Standard", locale: null },
  ]);
});

test("names each fault by its line", () => {
  const { users, faults } = readUsers(
    [
      "email,firstname,role,locale",
      "nonsense,A,,",
      "ada@a.example,\u0007,,",
      "bo@a.example,B,emperor,xx-!",
      "Cy@a.example,C,,",
      "cy@A.example,C,,",
      "di@a.example,D,,,more",
    ].join("\n"),
  );
  assert.deepEqual(
    users.map(({ email }) => email),
    ["Cy@a.example"],
  );
  assert.deepEqual(
    faults.map(({ line, fault }) => [line, fault]),
    [
      [2, "email"],
      [3, "firstname"],
      [4, "role"],
      [4, "locale"],
      [6, "duplicate"],
      [7, "too-many-cells"],
    ],
  );
});

test("refuses a file without users, without addresses, with unknown columns, and too large ones", () => {
  const fault = (text: string) => readUsers(text).faults.map((one) => [one.fault, one.text]);
  assert.deepEqual(fault(""), [["empty", undefined]]);
  assert.deepEqual(fault("email\n"), [["empty", undefined]]);
  assert.deepEqual(fault("firstname\nAda"), [["no-email-column", undefined]]);
  assert.deepEqual(fault("email,password\na@a.example,x"), [["unknown-column", "password"]]);
  assert.deepEqual(fault("email,email\na@a.example,x"), [["unknown-column", "email"]]);
  assert.deepEqual(fault('email\n"a'), [["malformed", undefined]]);
  const rows = Array.from({ length: importLimits.rows + 1 }, (_, index) => `u${index}@a.example`);
  assert.deepEqual(fault(`email\n${rows.join("\n")}`), [["too-many", undefined]]);
  assert.equal(readUsers(`email\n${rows.slice(1).join("\n")}`).users.length, importLimits.rows);
  assert.deepEqual(fault(`email\n${"é".repeat(importLimits.bytes / 2)}`), [["too-long", undefined]]);
});

const pasted = (text: string) =>
  readAddresses(text).users.map(({ line, email, firstname, surname }) =>
    [line, email, firstname, surname].join(" ").trim(),
  );

test("finds the addresses in pasted text, with their lines, and the names that mail programs write before them", () => {
  assert.deepEqual(pasted("ada@a.example, bo@a.example;cy@a.example dy@a.example\r\n\r\n<ed@a.example>"), [
    "1 ada@a.example",
    "1 bo@a.example",
    "1 cy@a.example",
    "1 dy@a.example",
    "3 ed@a.example",
  ]);
  assert.deepEqual(
    pasted('Ada Lovelace <ada@a.example>; "Jan van der Berg" <jan@a.example>\nCher <cher@a.example>'),
    ["1 ada@a.example Ada Lovelace", "1 jan@a.example Jan van der Berg", "2 cher@a.example Cher"],
  );
  const [jan] = readAddresses("Jan van der Berg <jan@a.example>").users;
  assert.deepEqual([jan?.firstname, jan?.surname], ["Jan van der", "Berg"]);
});

test("what is no address in pasted text is named with its line, and a name that can't be one is left out", () => {
  assert.deepEqual(readAddresses("ada@a.example\nbroken@, Bo <bo>").faults, [
    { line: 2, fault: "email", text: "broken@" },
    { line: 2, fault: "email", text: "bo" },
  ]);
  assert.deepEqual(readAddresses("nobody at all").faults, [{ line: 0, fault: "empty" }]);
  for (const name of ["ada@a.example", "x".repeat(101), "A\u0001da"])
    assert.deepEqual(pasted(`${name} <ada@a.example>`).slice(-1), ["1 ada@a.example"], name);
  const twice = readAddresses("a@a.example A@a.example");
  assert.deepEqual(twice.faults, [{ line: 1, fault: "duplicate", text: "A@a.example" }]);
  const many = Array.from({ length: importLimits.rows + 1 }, (_, index) => `u${index}@a.example`);
  assert.deepEqual(readAddresses(many.join(" ")).faults, [{ line: 0, fault: "too-many" }]);
  assert.deepEqual(readAddresses(`${"<".repeat(importLimits.bytes)}@`).faults, [
    { line: 0, fault: "too-long" },
  ]);
});
