/** settings/sign-in-methods: what the organisation offers to sign in with. A policy: saving asks for a recent sign-in. */
import type { FastifyInstance } from "fastify";
import type { Organisation, OrganisationSettings } from "../../../core/organisations/organisation.ts";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { offeredFactors, offersPasswords } from "../../../core/organisations/sign-in-methods.ts";
import { factorOwner } from "../../../core/second-factors/factor-status.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { findPasswordChangedAt, lockIfEnabled } from "../../../core/users/account.store.ts";
import type { Db } from "../../../db/open.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { doneKey } from "../../../page-kit/console-frame.ts";
import { type EditForm, type Editing, editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath, consoleRoute } from "../../../page-kit/page.ts";
import { type MethodChoice, type MethodsInput, methodChoices, methodsPage } from "./methods.page.ts";
import { organisationRecord } from "./organisation-record.ts";
import { type SignInPreviewDeps, showSignIn } from "./show-sign-in.ts";

type Methods = Pick<OrganisationSettings, "signInMethods" | "secondFactorMethods">;

export function methodsRoutes(app: FastifyInstance, deps: SignInPreviewDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/settings/sign-in-methods", {
    ...methodsForm,
    validate: (input, editing) => validate(deps, input, editing),
  });
  const preview = { path: "/settings/sign-in-methods", withDraft: withMethods };
  consoleRoute(app, deps, "/oauth/manage/:org/settings/sign-in-methods/preview", {
    get: (_, visit) => showSignIn(deps, visit, preview),
    post: (_, visit) => showSignIn(deps, visit, preview),
  });
}

const toInput = ({ settings }: Organisation): MethodsInput => ({
  signInMethods: settings.signInMethods.join("-"),
  offersTotp: settings.secondFactorMethods.includes("totp"),
  offersPasskey: settings.secondFactorMethods.includes("passkey"),
});

const readInput = ({ values }: Pick<SentForm, "values">): MethodsInput => ({
  signInMethods: (values.get("signInMethods") ?? "").slice(0, 40),
  offersTotp: values.has("offersTotp"),
  offersPasskey: values.has("offersPasskey"),
});

/** Undefined for what is no choice. */
function toMethods({ signInMethods, offersTotp, offersPasskey }: MethodsInput): Methods | undefined {
  if (!Object.hasOwn(methodChoices, signInMethods)) return undefined;
  return {
    signInMethods: methodChoices[signInMethods as MethodChoice],
    secondFactorMethods: [
      ...(offersTotp ? (["totp"] as const) : []),
      ...(offersPasskey ? (["passkey"] as const) : []),
    ],
  };
}

function withMethods(record: Organisation, values: ReadonlyMap<string, string>): Organisation {
  const methods = toMethods(readInput({ values }));
  return methods ? { ...record, settings: { ...record.settings, ...methods } } : record;
}

const methodsForm: Omit<EditForm<ConsoleDeps, Organisation, MethodsInput, Methods>, "validate"> = {
  ...organisationRecord,
  // The account first, as where a role is taken: while it is locked, none of its factors is added or removed.
  lock: async (tx, { id }, { signedIn: { user } }) => {
    await lockIfEnabled(tx, user);
    await lockOrganisation(tx, id);
  },
  current: "signInPage",
  hasFrame: true,
  readOnlyAllowed: true,
  version: toInput,
  toInput,
  readInput,
  toDisplay: (input, { messages }) => {
    const { frame, settings: text } = messages.console;
    const isKnown = Object.hasOwn(methodChoices, input.signInMethods);
    return {
      signInMethods: isKnown
        ? text.methodChoices[input.signInMethods as MethodChoice].label
        : input.signInMethods,
      offersTotp: input.offersTotp ? frame.yes : frame.no,
      offersPasskey: input.offersPasskey ? frame.yes : frame.no,
    };
  },
  explain: (error, editing) => {
    if (error instanceof LosesOwnSignIn) return { faults: ownFault(error.reason, editing.messages) };
    const explained = organisationRecord.explain?.(error, editing);
    if (!explained || !("faults" in explained) || !explained.faults?.["secondFactor"]) return explained;
    return { faults: { offersTotp: explained.faults["secondFactor"] } };
  },
  page: (view, { visit }) =>
    methodsPage({ ...view, done: doneKey(visit, view.messages.console.settings.done) }),
  save: async (inside, settings, { visit: { organisation }, signedIn, acting }) => {
    // A passkey that was removed since `validate` would have been the last way in.
    const reason = await ownLoss(inside.database.query, settings, signedIn.user);
    if (reason) throw new LosesOwnSignIn(reason);
    await changeOrganisationSettings(inside, { ...acting, settings });
    return consolePath(organisation, "/settings/sign-in-methods?done=methods");
  },
};

async function validate(
  { database }: Pick<ConsoleDeps, "database">,
  input: MethodsInput,
  { messages, signedIn: { user } }: Editing<Organisation>,
) {
  const methods = toMethods(input);
  if (!methods) return { faults: { signInMethods: messages.console.settings.faults.choice } };
  const reason = await ownLoss(database.query, methods, user);
  return reason ? { faults: ownFault(reason, messages) } : { content: methods };
}

type OwnLoss = "ownPassword" | "ownPasskey" | "ownFactor";

class LosesOwnSignIn extends Error {
  readonly reason: OwnLoss;
  constructor(reason: OwnLoss) {
    super("whoever sets it would have no way to sign in");
    this.name = "LosesOwnSignIn";
    this.reason = reason;
  }
}

const ownFault = (reason: OwnLoss, { console: { settings } }: Messages) => ({
  [reason === "ownFactor" ? "offersTotp" : "signInMethods"]: settings.faults[reason],
});

/** Refused: what would leave whoever sets it without a way to sign in that is theirs already. */
async function ownLoss(db: Db, methods: Methods, user: SignedIn["user"]): Promise<OwnLoss | undefined> {
  const factors = await findFactorSummary(db, factorOwner(user));
  const hasPassword = (await findPasswordChangedAt(db, user)) !== null;
  if (!methods.signInMethods.includes("passkey")) {
    if (!hasPassword) return "ownPassword";
  } else if (!offersPasswords(methods) && factors.passkeys === 0) return "ownPasskey";
  const offered = offeredFactors(methods);
  const losesApp = factors.hasTotp && factors.passkeys === 0 && !offered.includes("totp");
  return losesApp && offered.includes("passkey") ? "ownFactor" : undefined;
}
