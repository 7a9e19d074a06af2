import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultSettings } from "../applications/application.ts";
import { matchApplications } from "./match.ts";
import type { FileApplication } from "./organisation-file.ts";
import { applicationOfFile } from "./records.ts";
import type { ApplicationState } from "./state.ts";

const idOf = (number: number) => `01998d6e-0000-7000-8000-00000000000${number}`;

function state(number: number, name: string, externalKey?: string): ApplicationState {
  return {
    application: {
      orgId: "org",
      id: idOf(number),
      name,
      clientType: "spa",
      settings: defaultSettings("spa"),
      secrets: [],
      createdAt: 0,
      updatedAt: 0,
      disabledAt: null,
      version: 1,
      source: "registered",
      homeOrgId: null,
      grantedScopes: null,
    },
    externalKey,
    organisationConsent: undefined,
    preauthorizations: [],
  };
}

type Wanted = Partial<FileApplication> & { name: string };

/** The number of the application that each record means, `new`, or the fault. */
function meant(wanted: readonly Wanted[], states: readonly ApplicationState[]): Array<number | string> {
  const records = wanted.map((one) => applicationOfFile({ clientType: "spa", ...one }));
  const { matches, faults } = matchApplications(records, states);
  return matches.map(({ current }, index) => {
    const fault = faults.find(({ path }) => path.startsWith(`/applications/${index}`));
    if (fault) return `${fault.path.split("/").slice(3).join("/")}: ${fault.message}`;
    return current ? Number(current.application.id.at(-1)) : "new";
  });
}

test("matches by id before key, and by key before name", () => {
  const states = [state(1, "A", "one"), state(2, "B", "two"), state(3, "C")];
  assert.deepEqual(
    meant([{ id: idOf(3), name: "A" }, { externalKey: "two", name: "C" }, { name: "A" }], states),
    [3, 2, 1],
  );
});

test("ignores ids of other organisations", () => {
  assert.deepEqual(
    meant(
      [
        { id: idOf(9), name: "A" },
        { id: idOf(8), name: "B" },
      ],
      [state(1, "A")],
    ),
    [1, "new"],
  );
});

test("a renamed application matches by key; without a key it is new", () => {
  const states = [state(1, "A", "one"), state(2, "B")];
  assert.deepEqual(meant([{ externalKey: "one", name: "A2" }, { name: "B2" }], states), [1, "new"]);
});

test("the same name with another key is another application", () => {
  assert.deepEqual(meant([{ externalKey: "two", name: "A" }], [state(1, "A", "one")]), ["new"]);
});

test("doesn't match by an ambiguous name", () => {
  const states = [state(1, "A"), state(2, "A")];
  const said = "name: the organisation has 2 applications with this name: add an id or externalKey";
  assert.deepEqual(meant([{ name: "A" }], states), [said]);
  // One of them is spoken for: the other is meant.
  assert.deepEqual(meant([{ id: idOf(1), name: "A" }, { name: "A" }], states), [1, 2]);
});

test("records with the same name need an id or key", () => {
  const said = "name: is a duplicate: distinguish the applications by id or externalKey";
  assert.deepEqual(meant([{ name: "A" }, { name: "A" }], []), [said, said]);
  assert.deepEqual(meant([{ name: "A", externalKey: "one" }, { name: "A" }], []), [said, said]);
  const keyed = [
    { name: "A", externalKey: "one" },
    { name: "A", externalKey: "two" },
  ];
  assert.deepEqual(meant(keyed, []), ["new", "new"]);
  assert.deepEqual(meant(keyed, [state(1, "A")]), [said, said]);
});

test("rejects two records for one application, and a key of another application", () => {
  const states = [state(1, "A", "one"), state(2, "B", "two")];
  assert.deepEqual(
    meant(
      [
        { id: idOf(1), name: "A" },
        { externalKey: "one", name: "X" },
      ],
      states,
    ),
    [1, ": is the same application as /applications/0"],
  );
  assert.deepEqual(meant([{ id: idOf(1), name: "A", externalKey: "two" }], states), [
    `externalKey: belongs to application ${idOf(2)}`,
  ]);
  // Unless that one gives it up.
  assert.deepEqual(
    meant(
      [
        { id: idOf(1), name: "A", externalKey: "two" },
        { id: idOf(2), name: "B", externalKey: "one" },
      ],
      states,
    ),
    [1, 2],
  );
});

test("rejects a change of the client type", () => {
  assert.deepEqual(meant([{ name: "A", clientType: "native" }], [state(1, "A")]), [
    "clientType: is spa and cannot be changed",
  ]);
});

test("reports applications that the file doesn't name", () => {
  const { others } = matchApplications(
    [applicationOfFile({ name: "A", clientType: "spa" })],
    [state(1, "A"), state(2, "B")],
  );
  assert.deepEqual(
    others.map(({ application }) => application.name),
    ["B"],
  );
});
