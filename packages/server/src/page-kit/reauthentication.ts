/**
 * A form whose sender's sign-in is too old waits in a page of its own, with what was typed, while the user signs in again
 * in another tab.
 */
import type { FastifyInstance } from "fastify";
import { identityConfirmedPage, waitingFormPage } from "../html/components/act.page.ts";
import type { ConsoleFrame } from "../html/components/console-layout.ts";
import {
  type FormDeps,
  REAUTHENTICATION_FIELD,
  reauthenticationToken,
  type SentForm,
} from "./accept-form.ts";
import { consoleFrame } from "./console-frame.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  requireRecentAuthentication,
  show,
  type Visit,
} from "./page.ts";

/**
 * Answers a form of the console with outcome `reauthenticate`.
 * @param secretFields never wait in a page: for one that was typed, `<name>-due` asks for it again
 */
export async function askForIdentity(
  deps: Pick<ConsoleDeps, "database" | "clock" | "browserSession">,
  visit: Visit,
  form: SentForm,
  secretFields: readonly string[] = [],
): Promise<void> {
  const frame = await consoleFrame(deps, visit, form.signedIn, undefined);
  const secrets = secretFields.filter((name) => (form.values.get(name) ?? "") !== "");
  await showWaitingForm(deps, visit, form, {
    ...{ frame, secrets, carried: Object.fromEntries(secrets.map((name) => [`${name}-due`, "1"])) },
    signInUri: consolePath(visit.organisation, "/confirm-identity"),
  });
}

export interface WaitingForm {
  readonly frame: ConsoleFrame;
  /** The page that signs in again, in another tab. */
  readonly signInUri: string;
  /** Fields that never wait in a page: they are typed again. */
  readonly secrets?: readonly string[];
  /** Fields that we made for the session before, remade to outlast it. */
  readonly carried?: Readonly<Record<string, string>>;
}

export async function showWaitingForm(
  deps: Pick<FormDeps, "browserSession" | "clock">,
  visit: Visit,
  form: SentForm,
  { frame, signInUri, secrets = [], carried = {} }: WaitingForm,
): Promise<void> {
  const replaced = ["csrf", REAUTHENTICATION_FIELD, ...secrets, ...Object.keys(carried)];
  const names = [...form.values.keys()].filter((name) => !replaced.includes(name));
  const page = waitingFormPage({
    ...frame,
    action: visit.request.url,
    posted: [
      { name: "csrf", value: deps.browserSession.formBinding(visit).csrf },
      { name: REAUTHENTICATION_FIELD, value: reauthenticationToken(deps, visit, form) },
      ...names.flatMap((name) => form.all(name).map((value) => ({ name, value }))),
      ...Object.entries(carried).map(([name, value]) => ({ name, value })),
    ],
    hasSecrets: secrets.length > 0,
    signInUri,
  });
  await show(visit, frame, page, 403);
}

/** GET confirm-identity: signs in again in another tab, while a form waits. */
export function confirmIdentityRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/confirm-identity", {
    get: async (_, visit) => {
      const signedIn = await requireRecentAuthentication(deps, visit);
      const frame = await consoleFrame(deps, visit, signedIn, undefined);
      await show(visit, frame, identityConfirmedPage(frame));
    },
  });
}
