import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BEFORE,
  type Case,
  decided,
  FOR_ALL,
  FOR_IT,
  GRANTED,
  READY,
} from "../../../testing/fixtures/decision.ts";

const table: Readonly<Record<string, ReadonlyArray<readonly [what: string, asked: Case, step: string]>>> = {
  "without a session": [
    ["a plain request", {}, "login"],
    ["consent there is of no use", { ...GRANTED }, "login"],
    ["no consent is needed", { requireConsent: false }, "login"],
    ["silently", { prompts: ["none"] }, "refuse login_required"],
    ["prompt=login", { prompts: ["login"] }, "login"],
    ["prompt=consent", { prompts: ["consent"] }, "login"],
    ["prompt=select_account", { prompts: ["select_account"] }, "login"],
    ["a hint", { hint: "uma" }, "login"],
    ["a hint, silently", { hint: "uma", prompts: ["none"] }, "refuse login_required"],
  ],
  "how old the sign-in is": [
    ["any age will do", READY, "code resting on by-user"],
    ["prompt=login and a sign-in before it", { ...READY, prompts: ["login"] }, "login"],
    [
      "prompt=login and the sign-in made for it",
      { ...FOR_IT, ...GRANTED, prompts: ["login"] },
      "code resting on by-user",
    ],
    [
      "prompt=login and a sign-in of the same moment",
      { signedInBefore: 0, ...GRANTED, prompts: ["login"] },
      "code resting on by-user",
    ],
    [
      "prompt=login and one a millisecond too old",
      { signedInBefore: 1, ...GRANTED, prompts: ["login"] },
      "login",
    ],
    [
      "max_age reached to the millisecond",
      { signedInBefore: 55_000, ...GRANTED, maxAge: 60 },
      "code resting on by-user",
    ],
    ["max_age passed by a millisecond", { signedInBefore: 55_001, ...GRANTED, maxAge: 60 }, "login"],
    ["max_age passed, silently", { ...READY, maxAge: 60, prompts: ["none"] }, "refuse login_required"],
    ["max_age=0 and a sign-in before it", { signedInBefore: 1, ...GRANTED, maxAge: 0 }, "login"],
    [
      "max_age=0 and the sign-in made for it",
      { ...FOR_IT, ...GRANTED, maxAge: 0 },
      "code resting on by-user",
    ],
    ["max_age far away", { ...READY, maxAge: 999_999_999 }, "code resting on by-user"],
  ],
  "whose ID token came as the hint": [
    ["their own", { ...READY, hint: "uma" }, "code resting on by-user"],
    ["their own, silently", { ...READY, hint: "uma", prompts: ["none"] }, "code resting on by-user"],
    ["somebody else's", { ...READY, hint: "otto" }, "login"],
    ["somebody else's, silently", { ...READY, hint: "otto", prompts: ["none"] }, "refuse login_required"],
    [
      "somebody else's, after signing in for it",
      { ...FOR_IT, ...GRANTED, hint: "otto" },
      "refuse login_required",
    ],
    ["one that is not genuine", { ...READY, hint: null }, "login"],
    [
      "one that is not genuine, silently",
      { ...READY, hint: null, prompts: ["none"] },
      "refuse login_required",
    ],
    [
      "one that is not genuine, silently, however fresh the sign-in",
      { ...FOR_IT, ...GRANTED, hint: null, prompts: ["none"] },
      "refuse login_required",
    ],
    [
      "one that is not genuine names nobody: who signs in goes on",
      { ...FOR_IT, ...GRANTED, hint: null },
      "code resting on by-user",
    ],
  ],
  "the choice of an account": [
    ["is offered", { ...READY, prompts: ["select_account"] }, "select-account"],
    ["comes before consent", { ...BEFORE, prompts: ["select_account"] }, "select-account"],
    [
      "not to who signed in for this request",
      { ...FOR_IT, ...GRANTED, prompts: ["select_account"] },
      "code resting on by-user",
    ],
    ["not when they must sign in anyway", { ...READY, prompts: ["select_account", "login"] }, "login"],
  ],
  consent: [
    ["is asked", BEFORE, "consent"],
    ["is asked even after a sign-in for it", FOR_IT, "consent"],
    ["cannot be asked silently", { ...BEFORE, prompts: ["none"] }, "refuse consent_required"],
    ["was given", READY, "code resting on by-user"],
    ["was given, silently", { ...READY, prompts: ["none"] }, "code resting on by-user"],
    ["covers a subset", { ...READY, scopes: ["openid"] }, "code resting on by-user"],
    ["does not cover more", { ...READY, scopes: ["openid", "email", "phone"] }, "consent"],
    [
      "does not cover more, silently",
      { ...READY, scopes: ["openid", "email", "phone"], prompts: ["none"] },
      "refuse consent_required",
    ],
    [
      "of two records neither of which covers all",
      {
        ...BEFORE,
        scopes: ["openid", "email"],
        consents: [
          { kind: "user", scopes: ["openid"] },
          { kind: "organisation", scopes: ["email"] },
        ],
      },
      "consent",
    ],
    ["by the organisation suffices", { ...BEFORE, ...FOR_ALL }, "code resting on by-organisation"],
    [
      "by the organisation, silently",
      { ...BEFORE, ...FOR_ALL, prompts: ["none"] },
      "code resting on by-organisation",
    ],
    [
      "of one's own comes before the organisation's",
      {
        ...BEFORE,
        consents: [...FOR_ALL.consents, ...GRANTED.consents],
      },
      "code resting on by-user",
    ],
    ["not required", { ...BEFORE, requireConsent: false }, "code resting on nothing"],
    [
      "not required, silently",
      { ...BEFORE, requireConsent: false, prompts: ["none"] },
      "code resting on nothing",
    ],
    ["not required, but there is one", { ...READY, requireConsent: false }, "code resting on by-user"],
    ["prompt=consent asks although it was given", { ...READY, prompts: ["consent"] }, "consent"],
    [
      "prompt=consent asks although the organisation gave it",
      { ...BEFORE, ...FOR_ALL, prompts: ["consent"] },
      "consent",
    ],
    [
      "prompt=consent asks although it is not required",
      { ...BEFORE, requireConsent: false, prompts: ["consent"] },
      "consent",
    ],
    [
      "prompt=login consent asks for both, first the sign-in",
      { ...READY, prompts: ["login", "consent"] },
      "login",
    ],
    [
      "prompt=login consent asks for both, then consent",
      { ...FOR_IT, ...GRANTED, prompts: ["login", "consent"] },
      "consent",
    ],
  ],
};

for (const [subject, cases] of Object.entries(table)) {
  for (const [what, asked, step] of cases) {
    test(`${subject}: ${what}: ${step}`, () => assert.equal(decided(asked), step));
  }
}

test("prompt=none never shows a page", () => {
  const sessions = [{}, BEFORE, FOR_IT];
  const grants = [{}, GRANTED, FOR_ALL, { requireConsent: false }];
  const hints = [{}, { hint: "uma" }, { hint: "otto" }, { hint: null }] as const;
  for (const session of sessions) {
    for (const grant of grants) {
      for (const hint of hints) {
        for (const age of [{}, { maxAge: 0 }, { maxAge: 3_600 }]) {
          const step = decided({ ...session, ...grant, ...hint, ...age, prompts: ["none"] });
          assert.match(step, /^(refuse|code) /, JSON.stringify({ session, grant, hint, age }));
        }
      }
    }
  }
});
