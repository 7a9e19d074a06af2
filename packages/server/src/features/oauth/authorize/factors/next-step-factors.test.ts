// What next-step.ts decides about second factors: who is asked for one, who adds one, who is refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { acrValues } from "../../../../core/sessions/session.ts";
import { BEFORE, type Case, decided, FOR_IT, READY } from "../../../../testing/fixtures/decision.ts";

const { password: PWD, multiFactor: MFA, phishingResistant: PHR } = acrValues;
const APP = { hasTotp: true, recoveryCodes: 10 };
const KEY = { passkeys: 1, recoveryCodes: 10 };

const table: Readonly<Record<string, ReadonlyArray<readonly [what: string, asked: Case, step: string]>>> = {
  "what the organisation offers": [
    [
      "passkeys only: shown by who has one",
      { ...READY, factors: { ...KEY, requiresPasskey: true } },
      "second-factor 3",
    ],
    [
      "passkeys only: added by who has none",
      { ...FOR_IT, factors: { requiresPasskey: true } },
      "enrolment 3",
    ],
    [
      "passkeys only: a trusted browser is no passkey",
      { ...READY, factors: { ...KEY, isTrusted: true, requiresPasskey: true } },
      "second-factor 3",
    ],
    [
      "passkeys only: a code leads to one",
      { ...FOR_IT, factors: { ...APP, requiresPasskey: true }, reached: MFA },
      "enrolment 3",
    ],
    [
      "no app: it is shown once more",
      { ...FOR_IT, factors: { ...APP, offered: ["passkey"] } },
      "second-factor 2",
    ],
    [
      "no app: then a passkey is added",
      { ...FOR_IT, factors: { ...APP, offered: ["passkey"] }, reached: MFA },
      "enrolment 3",
    ],
    [
      "no app, but a passkey too",
      { ...READY, factors: { ...APP, ...KEY, offered: ["passkey"] }, reached: MFA },
      "code resting on by-user",
    ],
    [
      "no passkey: the one that a user has is shown",
      { ...READY, factors: { ...KEY, offered: ["totp"] } },
      "second-factor 2",
    ],
    [
      "no passkey, but the application asks for one",
      { ...FOR_IT, acr: { required: PHR }, factors: { offered: ["totp"] } },
      "refuse unmet_authentication_requirements",
    ],
    [
      "nothing, but the application asks for a second factor",
      { ...FOR_IT, acr: { required: MFA }, factors: { offered: [] } },
      "refuse unmet_authentication_requirements",
    ],
  ],
  "the second factor": [
    ["nobody has to have one", READY, "code resting on by-user"],
    ["who has an app shows it", { ...READY, factors: APP }, "second-factor 2"],
    ["who has a passkey shows it", { ...READY, factors: KEY }, "second-factor 2"],
    [
      "recovery codes that a reset left alone are shown",
      { ...READY, factors: { recoveryCodes: 10 } },
      "second-factor 2",
    ],
    ["was shown", { ...READY, factors: APP, reached: MFA }, "code resting on by-user"],
    ["was a passkey", { ...READY, factors: APP, reached: PHR }, "code resting on by-user"],
    [
      "is not asked on a remembered browser",
      { ...READY, factors: { ...APP, isTrusted: true } },
      "code resting on by-user",
    ],
    ["cannot be asked silently", { ...READY, factors: APP, prompts: ["none"] }, "refuse login_required"],
    ["comes before consent", { ...BEFORE, factors: APP }, "second-factor 2"],
    ["comes after the password", { factors: APP }, "login"],
    [
      "comes after the choice of an account",
      { ...READY, factors: APP, prompts: ["select_account"] },
      "select-account",
    ],
    [
      "required of everybody: shown by who has one",
      { ...READY, factors: { ...APP, isRequired: true } },
      "second-factor 2",
    ],
    [
      "required of everybody: added by who has none",
      { ...FOR_IT, factors: { isRequired: true } },
      "enrolment 2",
    ],
    [
      "required of everybody, on a remembered browser",
      { ...READY, factors: { ...APP, isRequired: true, isTrusted: true } },
      "code resting on by-user",
    ],
    [
      "required of everybody: remembering a browser is worth nothing without a factor",
      { ...FOR_IT, factors: { isRequired: true, isTrusted: true } },
      "enrolment 2",
    ],
    ["required, to be added, but the password is old", { ...READY, factors: { isRequired: true } }, "login"],
    [
      "required, to be added, silently",
      { ...FOR_IT, factors: { isRequired: true }, prompts: ["none"] },
      "refuse interaction_required",
    ],
    [
      "required of a guest who has none",
      { ...FOR_IT, factors: { isRequired: true, mayEnrol: false } },
      "refuse unmet_authentication_requirements",
    ],
  ],
  "an acr that is demanded": [
    ["is reached", { ...READY, acr: { required: PWD } }, "code resting on by-user"],
    [
      "is reached by more",
      { ...READY, acr: { required: MFA }, factors: APP, reached: PHR },
      "code resting on by-user",
    ],
    ["by the application", { ...READY, acr: { required: MFA }, factors: APP }, "second-factor 2"],
    ["by an essential claim", { ...READY, acr: { essential: [MFA] }, factors: APP }, "second-factor 2"],
    ["the least of several will do", { ...READY, acr: { essential: [PHR, PWD] } }, "code resting on by-user"],
    [
      "what is unknown among several does not count",
      { ...READY, acr: { essential: ["x", PHR] }, factors: KEY },
      "second-factor 3",
    ],
    [
      "the stricter of two demands counts",
      { ...READY, acr: { essential: [PWD], required: MFA }, factors: APP },
      "second-factor 2",
    ],
    ["and unknown", { ...READY, acr: { essential: ["x"] } }, "refuse unmet_authentication_requirements"],
    [
      "and unknown, of the application",
      { ...READY, acr: { required: "x" } },
      "refuse unmet_authentication_requirements",
    ],
    [
      "a remembered browser does not meet it",
      { ...READY, acr: { required: MFA }, factors: { ...APP, isTrusted: true } },
      "second-factor 2",
    ],
    [
      "a passkey, of who has one",
      { ...READY, acr: { required: PHR }, factors: KEY, reached: MFA },
      "second-factor 3",
    ],
    [
      "a passkey, of who has an app: that one first",
      { ...FOR_IT, acr: { required: PHR }, factors: APP },
      "second-factor 2",
    ],
    [
      "a passkey, of who has shown the app",
      { ...FOR_IT, acr: { required: PHR }, factors: APP, reached: MFA },
      "enrolment 3",
    ],
    [
      "a passkey, of who has an app, on a remembered browser",
      { ...FOR_IT, acr: { required: PHR }, factors: { ...APP, isTrusted: true } },
      "second-factor 2",
    ],
    ["more than the password, of who has nothing", { ...FOR_IT, acr: { required: MFA } }, "enrolment 2"],
    [
      "more than the password, of who has nothing, after ten minutes",
      { ...READY, acr: { required: MFA } },
      "login",
    ],
    [
      "silently",
      { ...READY, acr: { required: MFA }, factors: APP, prompts: ["none"] },
      "refuse login_required",
    ],
    [
      "of a guest who cannot add what is missing",
      { ...FOR_IT, acr: { required: PHR }, factors: { ...APP, mayEnrol: false }, reached: MFA },
      "refuse unmet_authentication_requirements",
    ],
  ],
  "an acr that is preferred": [
    ["by who has nothing", { ...READY, acr: { preferred: [PHR, MFA] } }, "code resting on by-user"],
    [
      "is unknown",
      { ...READY, acr: { preferred: ["x"] }, factors: APP, reached: MFA },
      "code resting on by-user",
    ],
    [
      "is reached",
      { ...READY, acr: { preferred: [PHR, MFA] }, factors: KEY, reached: MFA },
      "code resting on by-user",
    ],
    [
      "the best that can be shown is asked",
      { ...READY, acr: { preferred: [PHR, MFA] }, factors: { ...KEY, isTrusted: true } },
      "second-factor 3",
    ],
    [
      "and out of reach: the next one is",
      { ...READY, acr: { preferred: [PHR, MFA] }, factors: { ...APP, isTrusted: true } },
      "second-factor 2",
    ],
    [
      "a remembered browser does not meet it",
      { ...READY, acr: { preferred: [MFA] }, factors: { ...APP, isTrusted: true } },
      "second-factor 2",
    ],
    [
      "fails nothing silently",
      { ...READY, acr: { preferred: [PHR] }, factors: { ...KEY, isTrusted: true }, prompts: ["none"] },
      "code resting on by-user",
    ],
  ],
};

for (const [subject, cases] of Object.entries(table)) {
  for (const [what, asked, step] of cases) {
    test(`${subject}: ${what}: ${step}`, () => assert.equal(decided(asked), step));
  }
}
