/** domains/new: the form that adds a domain. */
import type { FastifyInstance } from "fastify";
import { createDomain } from "../../../core/domains/domains.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import type { Html } from "../../../html/html.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { DOMAINS, type DomainsDeps, domainFaults, domainPages } from "./domain-pages.ts";

export const newDomainRoute = (app: FastifyInstance, deps: DomainsDeps): void =>
  consoleRoute(app, deps, "/oauth/manage/:org/domains/new", { get: showNewDomain, post: addFromForm });

interface NewDomain {
  readonly domain: string;
}

async function showNewDomain(deps: DomainsDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: { domain: "" } });
}

const showForm = (deps: DomainsDeps, visit: Visit, signedIn: SignedIn, shown: FormShown<NewDomain>) =>
  showFormPage(deps, visit, signedIn, "domains", shown, newDomainPage);

function newDomainPage(view: FormView<NewDomain>): Html {
  const { domains: text } = view.messages.console;
  const labels = { domain: text.fields.domain.label };
  return formPage({
    ...view,
    breadcrumbs: domainPages.listCrumbs(view),
    ...{ title: text.add, summary: text.newText, cardLabel: text.add, id: "domain-form", labels },
    fields: textField({
      ...(view.state.faults === undefined && { hasFocus: true }),
      ...fieldsOf(view, labels)("domain"),
      ...{ hint: text.fields.domain.hint, maxLength: 253, isRequired: true, isCode: true },
    }),
    submit: { id: "domain-create", label: text.add },
    cancelUri: view.consoleUri(DOMAINS),
  });
}

async function addFromForm(deps: DomainsDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const input = { domain: (values.get("domain") ?? "").trim() };
  const rerender = (shown: Partial<FormShown<NewDomain>>) =>
    showForm(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  const messages = pageMessages(visit, signedIn);
  const route = { connectionId: null, enforced: false };
  const wanted = { ...auditContext(visit, signedIn), ...input, route };
  try {
    const created = await applyOnce(deps, form, (inside) => createDomain(inside, wanted));
    if (created === "duplicate-submission") {
      const uri = consolePath(visit.organisation, DOMAINS);
      return await rerender(
        duplicateSubmission({ result: { label: messages.console.frame.pages.domains, uri } }),
      );
    }
    await redirectTo(visit, domainPages.path(visit.organisation, created.id, "?done=created"));
  } catch (error) {
    await rerender({ state: { faults: domainFaults(error, messages) }, status: 400 });
  }
}
