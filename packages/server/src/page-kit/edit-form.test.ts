// Every form that edits a record: no overwriting of unseen changes, nothing typed is lost, all or nothing.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { listAuditEvents } from "../core/audit/audit.store.ts";
import type { Organisation } from "../core/organisations/organisation.ts";
import { findOrganisation, lockOrganisation } from "../core/organisations/organisations.store.ts";
import { changeOrganisationSettings, InvalidOrganisation } from "../core/organisations/organisations.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import { findUser } from "../core/users/users.store.ts";
import { createUser } from "../core/users/users.ts";
import { consoleLayout } from "../html/components/console-layout.ts";
import { textField } from "../html/components/fields.ts";
import { fieldState } from "../html/components/form-state.ts";
import { failureNotice, recordForm } from "../html/components/record-form.ts";
import { NotFound } from "../http/errors.ts";
import { acceptForms } from "../http/form-body.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { formOfPage, textOf } from "../testing/probes/console-browser.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";
import { type EditForm, editRoute } from "./edit-form.ts";
import type { BrowserSessionPort, ConsoleDeps } from "./page.ts";

const CSRF = "ours";

/** A form with one field, on the organisation's name. */
const nameForm = (rules: Partial<NameForm> = {}): NameForm => ({
  current: "settings",
  load: async ({ database }, { organisation }) => {
    const found = await findOrganisation(database.query, organisation.id);
    if (!found) throw new NotFound("organisation");
    return found;
  },
  lock: (tx, { id }) => lockOrganisation(tx, id),
  version: ({ name }) => name,
  toInput: ({ name }) => name,
  readInput: ({ values }) => values.get("name") ?? "",
  toDisplay: (name) => ({ name }),
  page: ({ input, state, failure, csrf, version, action, ...frame }) =>
    consoleLayout({
      ...frame,
      title: "Name",
      breadcrumbs: [],
      notice: failureNotice(failure, frame.messages),
      body: recordForm({
        id: "name-form",
        ...{ action, csrf, version },
        fields: textField({
          id: "name",
          label: "Name",
          value: input,
          messages: frame.messages,
          ...fieldState(state, "name"),
        }),
        submit: { id: "name-save", label: "Save" },
        messages: frame.messages,
      }),
    }),
  previewButton: "preview",
  validate: (input) => (input === "" ? { faults: { name: "No name." } } : { content: input }),
  save: async (inside, name, { acting }) => {
    await changeOrganisationSettings(inside, { ...acting, name, settings: {} });
    return "/saved";
  },
  explain: (error) =>
    error instanceof InvalidOrganisation ? { faults: { name: "Not this one." } } : undefined,
  ...rules,
});

type NameForm = EditForm<ConsoleDeps, Organisation, string, string>;

describe("edit form", () => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let signedIn: SignedIn;
  let deps: ConsoleDeps;
  let app: FastifyInstance | undefined;

  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: "sqlite::memory:", clock });
    const { service } = running;
    org = await makeOrganisation(service, "Acme");
    const { organisation } = org;
    const person = { email: "ada@acme.example", password: PASSWORD, firstname: "Ada", surname: "A" };
    const input = { organisation, ...person, emailVerified: true, actor: "test" };
    const id = await createUser(service, { ...input, role: "Administrator" });
    const user = await findUser(service.database.query, organisation.id, id);
    assert.ok(user);
    const times = { createdAt: clock(), lastSeenAt: clock(), expiresAt: clock() + 3_600_000 };
    const session = { orgId: organisation.id, id: "s", userId: id, amr: ["pwd"], acr: "", ...times };
    signedIn = { user, session: { ...session, authTime: clock() } };
    deps = {
      ...service,
      version: "0",
      baseUrl: running.baseUrl,
      browserSession: signedInAs(() => signedIn),
      showError,
      logFault: assert.ifError,
    };
  });
  after(() => running.close());
  beforeEach(async () => {
    await app?.close();
    app = undefined;
    await byAnother("Acme");
  });

  function mounted(rules: Partial<NameForm> = {}) {
    const own = Fastify();
    app = own;
    acceptForms(own);
    editRoute(own, deps, "/oauth/manage/:org/name", nameForm(rules));
    const url = `/oauth/manage/${org.organisation.id}/name`;
    const answer = async (request: { method: "GET" | "POST"; payload?: string }) => {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const { statusCode: status, body, headers: said } = await own.inject({ url, headers, ...request });
      return { status, body, location: said.location };
    };
    return {
      get: () => answer({ method: "GET" }),
      post: (form: URLSearchParams) => answer({ method: "POST", payload: form.toString() }),
    };
  }

  const byAnother = (name: string) => {
    const change = { orgId: org.organisation.id, name, settings: {}, actor: `user:${org.user.id}` };
    return changeOrganisationSettings(running.service, change);
  };
  const nameNow = async () =>
    (await findOrganisation(running.service.database.query, org.organisation.id))?.name;
  const isTyped = (page: { body: string }, name: string) =>
    assert.match(page.body, new RegExp(`name="name"[^>]*value="${name}"`));

  test("reports a record that was deleted while the form was open", async () => {
    let isThere = true;
    const form = mounted({
      load: async (inside, visit) => {
        if (!isThere) throw new NotFound("organisation");
        return nameForm().load(inside, visit);
      },
    });
    const page = await form.get();
    isThere = false;
    const gone = await form.post(formOfPage(page, { name: "Mine" }));
    assert.equal(gone.status, 404);
    assert.match(textOf(gone, "record-gone") ?? "", /Someone else deleted the record/);
    assert.equal(await nameNow(), "Acme");
  });

  test("saves what was typed and records actor and address", async () => {
    const form = mounted();
    const saved = await form.post(formOfPage(await form.get(), { name: "Mine" }));
    assert.deepEqual([saved.status, saved.location, await nameNow()], [303, "/saved", "Mine"]);
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual([event?.actor, event?.address], [`user:${signedIn.user.id}`, "127.0.0.1"]);
  });

  test("a conflicting change shows who made it and the present values, and can be overwritten knowingly", async () => {
    const form = mounted();
    const mine = formOfPage(await form.get(), { name: "Mine" });
    await byAnother("Theirs");
    const late = await form.post(mine);
    assert.equal(late.status, 409);
    assert.match(late.body, new RegExp(`Changed by ${org.user.email}`));
    assert.match(textOf(late, "name-now") ?? "", /Theirs/);
    isTyped(late, "Mine");
    assert.equal(await nameNow(), "Theirs");
    assert.equal((await form.post(formOfPage(late))).status, 303);
    assert.equal(await nameNow(), "Mine");
  });

  test("detects a change made after the form was read: the record is locked, then loaded again", async () => {
    const steps: string[] = [];
    const rules = nameForm();
    const form = mounted({
      validate: async (input) => {
        await byAnother("In the last moment");
        return { content: input };
      },
      lock: (tx, record, editing) => {
        steps.push(tx === deps.database.query ? "locked outside" : "locked");
        return rules.lock(tx, record, editing);
      },
      load: (inside, visit) => {
        steps.push(inside.database === deps.database ? "loaded" : "loaded again");
        return rules.load(inside, visit);
      },
    });
    const late = await form.post(formOfPage(await form.get(), { name: "Mine" }));
    assert.equal(late.status, 409);
    assert.match(textOf(late, "name-now") ?? "", /In the last moment/);
    assert.equal(await nameNow(), "In the last moment");
    assert.deepEqual(steps, ["loaded", "loaded", "locked", "loaded again", "loaded"]);
  });

  test("an expired, faulty or previewed form keeps the version that its sender saw", async () => {
    const form = mounted();
    const mine = formOfPage(await form.get(), { name: "Mine" });
    const sent = (changes: Record<string, string>) =>
      new URLSearchParams({ ...Object.fromEntries(mine), ...changes });
    await byAnother("Theirs");
    const cases = [
      [sent({ csrf: "another's" }), 403, "Mine"],
      [sent({ name: "" }), 400, ""],
      [sent({ preview: "1" }), 200, "Mine"],
    ] as const;
    for (const [payload, status, typed] of cases) {
      const page = await form.post(payload);
      assert.equal(page.status, status);
      isTyped(page, typed);
      const again = formOfPage(page, { name: "Mine" });
      assert.equal(again.get("seen"), mine.get("seen"), String(status));
      assert.equal((await form.post(again)).status, 409, String(status));
    }
    assert.equal(await nameNow(), "Theirs");
  });

  test("a form without a version saves nothing, not even at the second try", async () => {
    const form = mounted();
    const mine = formOfPage(await form.get(), { name: "Mine", seen: undefined });
    assert.equal((await form.post(mine)).status, 409);
    mine.set("csrf", "another's");
    const expired = formOfPage(await form.post(mine));
    assert.equal((await form.post(expired)).status, 409);
    assert.equal(await nameNow(), "Acme");
  });

  test("rolls back when saving fails, and keeps what was typed", async () => {
    const refusals = [
      [{ faults: { name: "Not this one." } }, 400, /id="name-fault">Not this one\./],
      [{ kind: "refused", title: "Not today." }, 409, /Not today\./],
      [undefined, 500, /^went wrong$/],
    ] as const;
    const rules = nameForm();
    for (const [refusal, status, told] of refusals) {
      const form = mounted({
        save: async (...all) => {
          await rules.save(...all);
          throw new Error("in the middle");
        },
        explain: () => refusal,
      });
      const form0 = formOfPage(await form.get(), { name: "Mine" });
      const page = await form.post(form0);
      assert.equal(page.status, status);
      assert.match(page.body, told);
      if (refusal) isTyped(page, "Mine");
      if (refusal) assert.equal(formOfPage(page).get("seen"), form0.get("seen"));
      assert.equal(await nameNow(), "Acme");
      await app?.close();
    }
  });

  test("requires a recent sign-in to open the form, unless reading is allowed, and always to save", async () => {
    const mine = formOfPage(await mounted().get(), { name: "Mine" });
    const fresh = signedIn;
    signedIn = { ...fresh, session: { ...fresh.session, authTime: clock() - 11 * 60_000 } };
    try {
      await app?.close();
      const closed = mounted();
      assert.equal((await closed.get()).status, 401);
      assert.equal((await closed.post(mine)).status, 403);
      await app?.close();
      const open = mounted({ readOnlyAllowed: true });
      assert.equal((await open.get()).status, 200);
      assert.equal((await open.post(mine)).status, 403);
    } finally {
      signedIn = fresh;
    }
    assert.equal(await nameNow(), "Acme");
  });
});

/** Lets in the given user. */
function signedInAs(currentSession: () => SignedIn): BrowserSessionPort {
  return {
    currentSession: async () => currentSession(),
    lacksRequiredFactor: async () => false,
    peekSession: async () => currentSession(),
    formBinding: () => ({ browser: "browser", csrf: CSRF }),
    hasValidCsrfToken: (_visit, presented) => presented === CSRF,
    isSameOrigin: () => true,
    reauthenticationToken: () => "seal",
    isReauthenticationToken: () => false,
    writeSession: () => {},
    undo: { read: () => undefined, write: () => {}, clear: () => {} },
    trustedBrowserToken: () => undefined,
    portalVisit: async () => undefined,
    portalCookie: { write: () => {}, clear: () => {} },
    signIn: async ({ reply }) => void (await reply.code(401).send("sign in")),
  };
}

const showError: ConsoleDeps["showError"] = async (_error, _request, reply) => {
  await reply.code(500).send("went wrong");
};
