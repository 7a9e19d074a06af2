import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../html/html.ts";
import { toDetailInput } from "../../../page-kit/profile-fields.ts";
import { testAccountFrame } from "../../../testing/fixtures/account-frame.ts";
import { assertEscapes, assertWellMade } from "../../../testing/probes/page-checks.ts";
import { addressSentPage, newAddressPage } from "../profile/address.page.ts";
import { type ProfileView, profilePage } from "../profile/profile.page.ts";
import { type PasswordView, passwordPage } from "../security/password.page.ts";
import { type ActivityView, activityPage } from "./activity.page.ts";
import { dataPage } from "./data.page.ts";
import { deletionPage, gonePage, leavePage } from "./deletion.page.ts";

const form = { csrf: "the-csrf", action: "/oauth/1/account/x", backUri: "/oauth/1/account/profile" };

const refused = { kind: "refused", title: "Not done", text: "Try again in an hour" } as const;

const profile: ProfileView = {
  ...testAccountFrame("profile"),
  ...form,
  version: "seen",
  input: {
    ...toDetailInput({ nickname: "Ada", zoneinfo: "Mars/Olympus", website: "https://uma.example/" }),
    ...{ firstname: "Uma", surname: "User", phone: "", locale: "de" },
  },
  faults: ["phone", "zoneinfo", "website", "streetAddress"],
  now: { surname: "Otherwise", locale: "" },
  failure: { kind: "changed", by: { who: "ada@acme.example", at: 0 } },
  isDone: false,
  isConfirmed: false,
  changeAddressUri: "/oauth/1/account/address",
  membership: { role: "Administrator", permId: "an-id", username: "uma", since: 0 },
  home: undefined,
};

test("the profile page renders valid HTML and escapes every value, for owners and guests", () => {
  const { username: _, ...membership } = profile.membership;
  const guest = {
    ...profile,
    membership: { ...membership, username: undefined },
    home: { name: "Home", uri: "/oauth/2/account/profile" },
  };
  for (const view of [profile, guest]) assertWellMade(profilePage(view));
  assertEscapes(profilePage, guest);
  assertEscapes(profilePage, { ...profile, input: { ...profile.input, locale: "" }, faults: [] });
  assert.match(render(profilePage(profile)), /<option value="fr">Français<\/option>/);
});

test("the password page never shows input and announces each error with its field", () => {
  const view: PasswordView = {
    ...testAccountFrame("security"),
    ...form,
    hasPassword: true,
    minLength: 12,
    reportsIntrusion: true,
    recoveryUri: "/oauth/1/recovery",
  };
  const failures: Pick<PasswordView, "failure" | "fault">[] = [
    {},
    { failure: { kind: "expired" } },
    { failure: refused },
    ...(["present", "password"] as const).map((id) => ({
      failure: { kind: "faults", fields: [{ id, label: "The field" }] } as const,
      fault: { id, text: "Another one" },
    })),
  ];
  for (const failure of failures) {
    assertWellMade(passwordPage({ ...view, ...failure }));
    assertEscapes(passwordPage, { ...view, ...failure });
    assertWellMade(passwordPage({ ...view, hasPassword: false, ...failure }));
  }
  const weak = { id: "password", text: "Use at least 12 characters" } as const;
  assert.match(
    render(passwordPage({ ...view, fault: weak })),
    /id="password-fault">Use at least 12 characters/,
  );
});

test("activity, data, address, deletion and leave pages render valid HTML and escape every value", () => {
  const activity: ActivityView = {
    ...testAccountFrame("activity"),
    events: [
      {
        at: 0,
        what: "Signed in",
        application: "Payroll",
        by: "you",
        address: "192.0.2.7",
        browser: undefined,
      },
      { at: 0, what: "Disabled", application: undefined, by: "x", address: undefined, browser: "Firefox" },
    ],
    newestUri: "/oauth/1/account/activity",
    olderUri: "/oauth/1/account/activity?before=1",
    notMeUri: "/oauth/1/account/password",
  };
  const data = {
    ...testAccountFrame("data"),
    csrf: "the-csrf",
    exportAction: "/oauth/1/account/data/export",
    deletionUri: "/oauth/1/account/deletion",
    leaveUri: undefined,
    failure: refused,
  };
  const guest = { ...data, deletionUri: undefined, leaveUri: "/oauth/1/account/leave" };
  const addressForm = {
    ...testAccountFrame("profile"),
    ...form,
    once: "the-once",
    input: "new@acme.example",
  };
  const sent = { ...testAccountFrame("profile"), backUri: form.backUri, newEmail: "new@acme.example" };
  const end = { ...testAccountFrame("data"), ...form, typedName: "not it", isWrongName: true };
  const { messages, nonce, stylesheet, organisation } = testAccountFrame("data");
  const gone = { messages, nonce, stylesheet, organisation, hasLeft: true };
  const pages = [
    activityPage(activity),
    activityPage({ ...activity, events: [] }),
    dataPage(data),
    dataPage({ ...guest, failure: { kind: "expired" } }),
    dataPage({ ...guest, leaveUri: undefined }),
    newAddressPage({ ...addressForm, fault: "No address" }),
    newAddressPage({ ...addressForm, failure: refused }),
    addressSentPage(sent),
    deletionPage(end),
    leavePage(end),
    gonePage(gone),
  ];
  for (const page of pages) assertWellMade(page);
  assertEscapes(activityPage, activity);
  assertEscapes(dataPage, data);
  assertEscapes(dataPage, guest);
  assertEscapes(newAddressPage, addressForm);
  assertEscapes(addressSentPage, sent);
  assertEscapes(deletionPage, end);
  assertEscapes(leavePage, end);
  assertEscapes(gonePage, gone);
});
