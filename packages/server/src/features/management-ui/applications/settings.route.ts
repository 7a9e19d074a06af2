/** Settings of an application: one form for all of them. */
import type { FastifyInstance } from "fastify";
import { lastChangeOf } from "../../../console/actor-names.ts";
import { consoleFrame } from "../../../console/console-frame.ts";
import {
  ChangedMeanwhile,
  requireSeen,
  type Submission,
  seenOf,
  submission,
} from "../../../console/submission.ts";
import {
  actingOn,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  queryText,
  show,
  type Visit,
} from "../../../console/visit.ts";
import type { Application } from "../../../core/applications/application.ts";
import { changeApplication } from "../../../core/applications/application-changes.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import { standardScopes } from "../../../core/scopes/scopes.ts";
import { listCustomScopes } from "../../../core/scopes/store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { listAllPools } from "../../../core/signing-pools/store.ts";
import { differing, type FormState } from "../../../html/console/form-state.ts";
import type { FormFailure } from "../../../html/console/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { checksScript } from "../../../html/scripts.ts";
import { NotFound } from "../../../http/errors.ts";
import { applicationHere, applicationPath, idIn, recordCrumbs } from "./application-visit.ts";
import { settingFaults } from "./setting-faults.ts";
import type { FieldSource } from "./setting-field.ts";
import { fieldsOf, type SettingId } from "./setting-fields.ts";
import { inWords } from "./setting-words.ts";
import { settingsPage } from "./settings.page.ts";
import { readTyped, settingsOf, type TypedSettings, typedOf, withoutPrivateKeys } from "./typed-settings.ts";

const REST = "/settings";

export function settingsRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, `/applications/:id${REST}`, {
    get: async (visit) => {
      const signedIn = await provenAdministrator(
        deps,
        visit,
        applicationPath(visit.organisation, idIn(visit), REST),
      );
      if (signedIn) await showForm(deps, visit, signedIn, await applicationHere(deps, visit));
    },
    post: (visit) => change(deps, visit),
  });
}

interface Again {
  readonly typed: TypedSettings;
  readonly form?: FormState;
  readonly failure?: FormFailure;
  /** As the form had it; what the record is now, when it is left out. */
  readonly seen?: string | undefined;
  readonly status: number;
}

async function showForm(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  application: Application,
  again?: Again,
): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const page = settingsPage({
    ...frame,
    ...(await choicesOf(deps, visit, application)),
    breadcrumbs: recordCrumbs(organisation, application, frame.messages),
    application,
    csrf: deps.door.formBinding(visit).csrf,
    action: applicationPath(organisation, application.id, REST),
    cancelUri: applicationPath(organisation, application.id),
    seen: again?.seen ?? seenOf(application.version),
    typed: withoutPrivateKeys(again?.typed ?? typedOf(application)),
    form: again?.form ?? {},
    failure: again?.failure,
    lastChange: await lastChangeOf(deps, organisation.id, application.id, frame.messages),
    script: checksScript.path,
  });
  await show(visit, frame, page, again?.status ?? 200);
}

/** At most so many are listed with their boxes; the others are typed. */
const MOST_BOXES = 40;

export async function choicesOf(
  { database }: Pick<ConsoleDeps, "database">,
  { organisation }: Visit,
  { clientType }: Pick<Application, "clientType">,
): Promise<Pick<FieldSource, "scopes" | "pools" | "checkUri" | "clientType">> {
  const custom = (await listCustomScopes(database.query, organisation.id)).slice(0, MOST_BOXES);
  const standard = standardScopes.map((name) => ({ name }));
  return {
    clientType,
    scopes: [...standard, ...custom.map(({ name, displayName }) => ({ name, text: displayName }))],
    pools: await listAllPools(database.query, organisation.id),
    checkUri: (name) => consolePath(organisation, `/checks/${name}${queryText({ type: clientType })}`),
  };
}

async function change(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const path = applicationPath(organisation, idIn(visit), REST);
  const sent = await submission(deps, visit, path, async (expired) => {
    const application = await applicationHere(deps, visit);
    const typed = readTyped(expired, fieldsOf(application));
    const seen = expired.values.get("seen");
    const again = { typed, seen, failure: { kind: "expired" }, status: 403 } as const;
    await showForm(deps, visit, expired.signedIn, application, again);
  });
  if (!sent) return;
  const found = await applicationHere(deps, visit);
  const ids = fieldsOf(found);
  const typed = readTyped(sent, ids);
  try {
    await save(deps, visit, sent, typed);
    await goTo(visit, applicationPath(organisation, found.id, "?done=saved"));
  } catch (error) {
    // What is compared and shown is what is there now.
    const now = await applicationHere(deps, visit);
    const { messages } = await consoleFrame(deps, visit, sent.signedIn, "applications");
    const seen = sent.values.get("seen");
    const again = await againAfter(deps, error, { now, typed, seen, ids, messages });
    await showForm(deps, visit, sent.signedIn, now, again);
  }
}

async function save(deps: ConsoleDeps, visit: Visit, sent: Submission, typed: TypedSettings): Promise<void> {
  const key = {
    ...actingOn(visit, sent.signedIn),
    id: idIn(visit),
    check: ({ version }: Application) => requireSeen(sent.values.get("seen"), version),
  };
  const changed = await changeApplication(deps, key, (before) => ({
    ...settingsOf(typed, before),
    disabled: before.disabledAt !== null,
  }));
  if (!changed) throw new NotFound("application");
}

/** @throws what is no fault of the one who typed */
async function againAfter(
  deps: ConsoleDeps,
  error: unknown,
  the: {
    now: Application;
    typed: TypedSettings;
    seen: string | undefined;
    ids: readonly SettingId[];
    messages: Messages;
  },
): Promise<Again> {
  const { now, typed, seen, ids, messages } = the;
  // What was seen stays what was seen: the next try must not write over what somebody else saved meanwhile.
  if (error instanceof InvalidApplication)
    return { typed, seen, form: { faults: settingFaults(error.faults, ids, messages) }, status: 400 };
  if (!(error instanceof ChangedMeanwhile)) throw error;
  const by = await lastChangeOf(deps, now.orgId, now.id, messages);
  const present = Object.fromEntries(
    Object.entries(typedOf(now)).filter(([id]) => ids.includes(id as SettingId)),
  );
  const others = Object.keys(differing(typed as Record<string, string>, present));
  const isNow = Object.fromEntries(
    others.map((id) => [id, inWords(id as SettingId, present[id] ?? "", messages)]),
  );
  return { typed, form: { isNow }, failure: { kind: "changed", by }, status: 409 };
}
