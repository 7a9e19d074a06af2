/** settings/sign-in-methods: what the organisation offers to sign in with. A policy: saving asks for a recent sign-in. */
import type { FastifyInstance } from "fastify";
import type { Organisation, OrganisationSettings } from "../../../core/organisations/organisation.ts";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import {
  isMethodList,
  offeredFactors,
  offersMail,
  type PasskeyEnrolment,
  requiresPasskeys,
  type SignInMethod,
  signInMethods,
  worksWithoutMail,
} from "../../../core/organisations/sign-in-methods.ts";
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
import { type MethodsInput, methodFields, methodsPage } from "./methods.page.ts";
import { organisationRecord } from "./organisation-record.ts";
import type { PoliciesDeps } from "./policies.route.ts";
import { type SignInPreviewDeps, showSignIn } from "./show-sign-in.ts";

type Methods = Pick<OrganisationSettings, "signInMethods" | "secondFactorMethods" | "passkeyEnrolment">;

export function methodsRoutes(
  app: FastifyInstance,
  deps: SignInPreviewDeps & Pick<PoliciesDeps, "outbox">,
): void {
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

const toInput = ({ settings }: Organisation): MethodsInput => {
  const [method1 = "", method2 = "", method3 = "", method4 = ""] = settings.signInMethods;
  return {
    ...{ method1, method2, method3, method4 },
    passkeyEnrolment: settings.passkeyEnrolment,
    offersTotp: settings.secondFactorMethods.includes("totp"),
    offersPasskey: settings.secondFactorMethods.includes("passkey"),
  };
};

function readInput({ values }: Pick<SentForm, "values">): MethodsInput {
  const text = (name: string) => (values.get(name) ?? "").slice(0, 40);
  return {
    ...{ method1: text("method1"), method2: text("method2") },
    ...{ method3: text("method3"), method4: text("method4") },
    passkeyEnrolment: text("passkeyEnrolment"),
    offersTotp: values.has("offersTotp"),
    offersPasskey: values.has("offersPasskey"),
  };
}

/** Undefined for what is no choice. Places may be left out: what is chosen moves up. */
function toMethods({
  passkeyEnrolment,
  offersTotp,
  offersPasskey,
  ...places
}: MethodsInput): Methods | undefined {
  const chosen = methodFields.map((name) => places[name]).filter((method) => method !== "");
  if (!isMethodList(chosen, signInMethods, { isEmptyAllowed: false })) return undefined;
  return {
    signInMethods: chosen as SignInMethod[],
    passkeyEnrolment: passkeyEnrolment as PasskeyEnrolment,
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
    const method = (value: string) =>
      value === ""
        ? text.methodNone
        : Object.hasOwn(text.methodNames, value)
          ? text.methodNames[value as SignInMethod]
          : value;
    const { passkeyEnrolment } = input;
    return {
      ...{ method1: method(input.method1), method2: method(input.method2) },
      ...{ method3: method(input.method3), method4: method(input.method4) },
      passkeyEnrolment: Object.hasOwn(text.enrolmentChoices, passkeyEnrolment)
        ? text.enrolmentChoices[passkeyEnrolment as PasskeyEnrolment].label
        : passkeyEnrolment,
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
  { database, outbox }: Pick<ConsoleDeps, "database"> & Pick<PoliciesDeps, "outbox">,
  input: MethodsInput,
  { messages, signedIn: { user } }: Editing<Organisation>,
) {
  const methods = toMethods(input);
  if (!methods) return { faults: { method1: messages.console.settings.faults.methods } };
  if (!outbox.isOpen && !worksWithoutMail(methods))
    return { faults: { method1: messages.console.settings.faults.noMail } };
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
  [reason === "ownFactor" ? "offersTotp" : "method1"]: settings.faults[reason],
});

/** Refused: what would leave whoever sets it without a way to sign in that is theirs already. */
async function ownLoss(db: Db, methods: Methods, user: SignedIn["user"]): Promise<OwnLoss | undefined> {
  const factors = await findFactorSummary(db, factorOwner(user));
  const hasPassword = (await findPasswordChangedAt(db, user)) !== null;
  if (!offersMail(methods) && !methods.signInMethods.includes("passkey")) {
    if (!hasPassword) return "ownPassword";
  } else if (requiresPasskeys(methods) && factors.passkeys === 0) return "ownPasskey";
  const offered = offeredFactors(methods);
  const losesApp = factors.hasTotp && factors.passkeys === 0 && !offered.includes("totp");
  return losesApp && offered.includes("passkey") ? "ownFactor" : undefined;
}
