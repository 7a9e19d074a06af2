/** access-check: why a subject has, or has not, a permission or a role, or may use an application. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { answerAccess } from "../../../core/roles/access-answers.ts";
import type { Explanation } from "../../../core/roles/access-paths.ts";
import { type SubjectType, subjectTypes } from "../../../core/roles/assignments.store.ts";
import { InvalidRole, isPermission } from "../../../core/roles/role.ts";
import type { Db } from "../../../db/open.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  consoleRoute,
  queryString,
  requestPath,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { organisationItself, ownerCrumbs, type RolesDeps } from "./role-pages.ts";
import { findTypedSubject } from "./subjects.store.ts";
import { type Question, questions, type WhyInput, whyPage } from "./why.page.ts";

export const whyRoute = (app: FastifyInstance, deps: RolesDeps): void =>
  consoleRoute(app, deps, "/oauth/manage/:org/access-check", { get: showWhy });

const MAX_LETTERS = 254;

function readInput(values: ReadonlyMap<string, string>): WhyInput {
  const read = (name: string) => (values.get(name) ?? "").trim().slice(0, MAX_LETTERS);
  const [type, ask] = [read("subjectType"), read("ask")];
  return {
    subjectType: (subjectTypes as readonly string[]).includes(type) ? (type as SubjectType) : "user",
    ...{ subject: read("subject"), application: read("application") },
    ask: (questions as readonly string[]).includes(ask) ? (ask as Question) : "use",
    value: read("value"),
  };
}

async function showWhy(deps: RolesDeps, visit: Visit): Promise<void> {
  const { values } = parseQuery(visit.request);
  const query = queryString(Object.fromEntries(values));
  const signedIn = await requireAdministrator(deps, visit, `${requestPath(visit)}${query}`);
  const frame = await consoleFrame(deps, visit, signedIn, "roles");
  const { id: orgId } = visit.organisation;
  const input = readInput(values);
  const application = await findTyped(deps.database.query, orgId, input.application);
  const shown = { ...input, application: application?.name ?? input.application };
  const { answer, faults } =
    input.subject === ""
      ? { answer: undefined, faults: {} }
      : await answerTo(
          deps.database.query,
          orgId,
          { ...input, application, typed: input.application },
          frame.messages,
        );
  const owner = application && { applicationId: application.id, applicationName: application.name };
  const breadcrumbs = ownerCrumbs(frame, owner ?? organisationItself);
  const page = whyPage({ ...frame, input: shown, answer, faults, breadcrumbs });
  await show(visit, frame, page);
}

interface FoundApplication {
  readonly id: string;
  readonly name: string;
}

/** By its name or its ID. */
async function findTyped(db: Db, orgId: string, text: string): Promise<FoundApplication | undefined> {
  const id = text.toLowerCase();
  if (isUuid(id)) return findApplication(db, orgId, id);
  const found = await findTypedSubject(db, orgId, { subjectType: "application", text });
  return found === undefined || found === "several" ? undefined : findApplication(db, orgId, found.subjectId);
}

type Answer = { readonly answer: Explanation | undefined; readonly faults: Record<string, string> };

async function answerTo(
  db: Db,
  orgId: string,
  {
    subjectType,
    subject: text,
    ask,
    value,
    ...asked
  }: Omit<WhyInput, "application"> & {
    readonly application: FoundApplication | undefined;
    /** Of the application; empty: the organisation itself, whose roles and permissions may be asked for. */
    readonly typed: string;
  },
  { console: { roles } }: Messages,
): Promise<Answer> {
  const { faults: texts } = roles.why;
  const subject = await findTypedSubject(db, orgId, { subjectType, text });
  const { application } = asked;
  const faults = {
    ...(subject === undefined && { subject: roles.assignments.faults.unknown }),
    ...(subject === "several" && { subject: roles.assignments.faults.several }),
    // Only applications are used; and what is typed has to be one.
    ...(!application && (asked.typed !== "" || ask === "use") && { application: texts.application }),
    ...(ask === "permission" && !isPermission(value) && { value: texts.permission }),
  };
  if (subject === undefined || subject === "several" || Object.keys(faults).length > 0)
    return { answer: undefined, faults };
  try {
    const answer = await answerAccess(db, {
      ...{ orgId, ...subject, applicationId: application?.id },
      ...(ask === "use" ? {} : { [ask]: value }),
    });
    return { answer, faults };
  } catch (error) {
    // Of what is left, a role that the application does not have.
    if (!(error instanceof InvalidRole)) throw error;
    return { answer: undefined, faults: { value: texts.role } };
  }
}
